// The wait before a reconnect: exponential backoff with jitter, so that the clients of a lost server do not reconnect at once. A wait that the server
// names is used instead.
const FIRST_S = 0.5;
const LONGEST_S = 30;

export class Waiting {
  #end = null;

  // Waits, and calls `tell` with the number of seconds first.
  async after(failures, asked, tell) {
    const seconds = asked ?? backOff(failures);
    tell(seconds);
    await new Promise((resolve) => {
      this.#end = resolve;
      setTimeout(resolve, seconds * 1_000);
    });
    this.#end = null;
  }

  // Ends the current wait, if there is one.
  skip() {
    this.#end?.();
  }
}

// Half of the wait is random, so it is never close to zero.
export function backOff(failures, chance = Math.random()) {
  const most = Math.min(LONGEST_S, FIRST_S * 2 ** Math.min(failures, 10));
  return most * (0.5 + chance / 2);
}
