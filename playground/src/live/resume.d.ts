// The types of resume.js.

// `refused` and `login` are final. `waiting` reconnects by itself.
export type Connection =
  | { phase: 'connecting' }
  | { phase: 'live' }
  | { phase: 'waiting'; seconds: number }
  | { phase: 'login' }
  | { phase: 'refused'; code?: string; message: string };

export interface Options<Event> {
  query: string;
  variables?: Record<string, unknown>;
  token?: string | null;
  // Reads the list and returns its sync cursor. Called at the start and after a gap.
  read?: (() => Promise<string>) | null;
  // Returns the cursor to start from, for a list that cannot be read again.
  begin?: (() => Promise<string>) | null;
  onEvent: (event: Event) => void;
  onGap: (reason: string) => void;
  onState: (state: Connection) => void;
}

export interface Resumed {
  // Reconnects at once.
  reconnect(): void;
  stop(): void;
}

export function resume<Event>(options: Options<Event>): Resumed;
