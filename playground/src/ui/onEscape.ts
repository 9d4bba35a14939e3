// Escape closes what opened: the innermost of what is open, and no more.
import type { KeyboardEvent } from 'react';

export function onEscape(close: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    close();
  };
}
