// How long to stay away after a failure: twice as long each time, spread by chance, so that a thousand pages that lost one server do not
// come back to the next in the same moment. A server that says how long is believed.
const FIRST_S = 0.5;
const LONGEST_S = 30;

export class Waiting {
  #end = null;

  // Calls `tell` with how many seconds it will be.
  async after(failures, asked, tell) {
    const seconds = asked ?? backOff(failures);
    tell(seconds);
    await new Promise((resolve) => {
      this.#end = resolve;
      setTimeout(resolve, seconds * 1_000);
    });
    this.#end = null;
  }

  // Ends the wait that is under way, if one is.
  skip() {
    this.#end?.();
  }
}

// Half of it is certain: a wait of almost nothing would be none.
export function backOff(failures, chance = Math.random()) {
  const most = Math.min(LONGEST_S, FIRST_S * 2 ** Math.min(failures, 10));
  return most * (0.5 + chance / 2);
}
