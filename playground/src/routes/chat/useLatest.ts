// A state whose latest value can be read outside of a render: events and responses change it one after another.
import { useCallback, useRef, useState } from 'react';

export function useLatest<State>(initial: State | (() => State)) {
  const [state, setState] = useState(initial);
  const latest = useRef(state);
  const change = useCallback((act: (state: State) => State) => {
    latest.current = act(latest.current);
    setState(latest.current);
  }, []);
  return [state, change, latest] as const;
}
