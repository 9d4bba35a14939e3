// Whether an action is running. A second one does not start meanwhile.
//
// Buttons are marked with `aria-disabled`, not disabled: a disabled button would lose the keyboard's focus.
import { useRef, useState } from 'react';

export function useBusy() {
  const [busy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const run = async (action: () => Promise<unknown> | void): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    try {
      await action();
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  };
  return [busy, run] as const;
}
