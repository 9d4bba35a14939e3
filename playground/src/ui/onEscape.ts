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

// The open regions, the last one opened at the end: it closes first.
const openRegions: unknown[] = [];

// For a region of the page, independent of the focus. Open elements within it close first.
export function usePageEscape(close: (() => void) | undefined): void {
  const latest = useRef(close);
  latest.current = close;
  const canClose = close !== undefined;
  useEffect(() => {
    if (!canClose) return;
    openRegions.push(latest);
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || openRegions.at(-1) !== latest) return;
      event.preventDefault();
      latest.current?.();
    };
    addEventListener('keydown', listen);
    return () => {
      removeEventListener('keydown', listen);
      openRegions.splice(openRegions.indexOf(latest), 1);
    };
  }, [canClose]);
}
