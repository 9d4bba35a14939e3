// Tells whether a request of the session bar is under way, and lets none start beside it.
//
// The buttons are marked with aria-disabled, not disabled: a disabled button would lose the keyboard's focus.
import { useState } from 'react';

export function useBusy() {
  const [busy, setBusy] = useState(false);
  const run = async (action) => {
    if (busy) return;
    setBusy(true);
    try {
      await action();
    } finally {
      setBusy(false);
    }
  };
  return [busy, run];
}
