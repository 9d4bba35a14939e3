// Runs an action one at a time. A call during a run causes one more run after it, because what has changed may be missing in the result of the first.
export function oneAtATime(act: () => Promise<void>): () => Promise<void> {
  let isWanted = false;
  let running: Promise<void> | null = null;
  const run = async () => {
    while (isWanted) {
      isWanted = false;
      await act();
    }
  };
  return () => {
    isWanted = true;
    running ??= run().finally(() => (running = null));
    return running;
  };
}
