// The focus after the next page of a list has been read: the button of the last page disappears with it, so the first new row takes it.
import { useEffect, useRef } from 'react';

export function useFocusOnNextPage(length: number) {
  const list = useRef<HTMLOListElement>(null);
  const from = useRef<number | null>(null);
  useEffect(() => {
    const row = from.current === null ? null : list.current?.children[from.current];
    from.current = null;
    if (row instanceof HTMLElement) row.focus({ preventScroll: true });
  }, [length]);
  return [list, () => void (from.current = length)] as const;
}
