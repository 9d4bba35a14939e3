// Announces to screen readers how many items were added since the last announcement, at most every five seconds.
import { useEffect, useRef, useState } from 'react';

const EVERY_MS = 5_000;

export function useAnnouncement(total: number, textOf: (count: number) => string): string {
  const [text, setText] = useState('');
  const state = useRef({ announced: total, timer: 0, total });
  state.current.total = total;
  useEffect(() => {
    if (total === state.current.announced || state.current.timer) return;
    state.current.timer = window.setTimeout(() => {
      const { announced, total } = state.current;
      Object.assign(state.current, { announced: total, timer: 0 });
      setText(textOf(total - announced));
    }, EVERY_MS);
  }, [total]);
  useEffect(() => () => clearTimeout(state.current.timer), []);
  return text;
}
