// Many events in a moment ask for one read, and for one more where an event came while it ran.
export function coalesce(read: () => Promise<unknown>): () => void {
  let isRunning = false;
  let isWanted = false;
  return async () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isWanted) {
        isWanted = false;
        await read();
      }
    } finally {
      isRunning = false;
    }
  };
}
