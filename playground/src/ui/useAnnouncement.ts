// Announces to screen readers how many items were added since the last announcement, at most every five seconds.
import { useEffect, useRef, useState } from 'react';

const EVERY_MS = 5_000;

export function useAnnouncement(total: number, textOf: (count: number) => string): string {
  const [text, setText] = useState('');
  const state = useRef({ told: total, timer: 0, total });
  state.current.total = total;
  useEffect(() => {
    if (total === state.current.told || state.current.timer) return;
    state.current.timer = window.setTimeout(() => {
      const { told, total } = state.current;
      Object.assign(state.current, { told: total, timer: 0 });
      setText(textOf(total - told));
    }, EVERY_MS);
  }, [total]);
  useEffect(() => () => clearTimeout(state.current.timer), []);
  return text;
}
