// Runs the reads that events of a list ask for, one at a time. Events that arrive during a read ask for one more read, however many they are.

export type Reads = {
  // Reads the page of entries before the newest one. Returns whether there are newer entries than those: then it is called again.
  newer(): Promise<boolean>;
  // Reads the first page again, after a gap.
  again(): Promise<unknown>;
  // Receives the error of a read. The next event repeats the read.
  onError(reason: unknown): void;
};

export function coalesce({ newer, again, onError }: Reads) {
  let isRunning = false;
  let isWanted = false;
  let isStale = false;

  function request() {
    isWanted = true;
    if (isRunning) return;
    void run();
  }

  async function run() {
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      try {
        if (await read()) isWanted = true;
      } catch (reason) {
        onError(reason);
      }
    }
    // In the same step as the last look at `isWanted`: no event is missed in between.
    isRunning = false;
  }

  async function read() {
    if (!isStale) return newer();
    isStale = false;
    try {
      await again();
    } catch (reason) {
      isStale = true;
      throw reason;
    }
    // Entries that are newer than the first page have events of their own.
    return false;
  }

  return {
    readNewer: request,
    readAgain() {
      isStale = true;
      request();
    },
  };
}
