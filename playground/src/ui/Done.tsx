// The result of an action, which screen readers announce. Always in the page: an element that appears with its text is not announced.
import type { ReactNode } from 'react';

export function Done({ children }: { children: ReactNode }) {
  return (
    <p className="done" role="status">
      {children}
    </p>
  );
}
