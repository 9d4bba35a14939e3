// Whether the viewer looks at the page: the window is visible and has the focus.
import { useEffect, useRef } from 'react';

export const isAttentive = () => document.visibilityState === 'visible' && document.hasFocus();

// Calls a function when the viewer looks at the page again.
export function useReturn(act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const listen = () => void (isAttentive() && latest.current());
    addEventListener('focus', listen);
    document.addEventListener('visibilitychange', listen);
    return () => {
      removeEventListener('focus', listen);
      document.removeEventListener('visibilitychange', listen);
    };
  }, []);
}
