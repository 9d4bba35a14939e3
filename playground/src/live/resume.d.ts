// The types of resume.js.

// `refused` and `login` are final; `waiting` comes back by itself.
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
  // Reads anew what is shown, and answers the cursor up to which it did. Called at the beginning and after a gap.
  read?: (() => Promise<string>) | null;
  // Answers the cursor to begin with, where nothing can be read anew.
  begin?: (() => Promise<string>) | null;
  onEvent: (event: Event) => void;
  onGap: (reason: string) => void;
  onState: (state: Connection) => void;
}

export interface Resumed {
  // Tries now rather than later.
  now(): void;
  stop(): void;
}

export function resume<Event>(options: Options<Event>): Resumed;
