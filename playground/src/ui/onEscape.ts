// Escape closes the innermost open element, and only that.
import { useEffect, useRef, type KeyboardEvent } from 'react';

// For an element that contains the focus.
export function onEscape(close: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented || event.nativeEvent.isComposing) return;
    event.preventDefault();
    close();
  };
}

// For a region of the page, independent of the focus. Open elements within it close first.
export function usePageEscape(close: (() => void) | undefined): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) latest.current?.();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
