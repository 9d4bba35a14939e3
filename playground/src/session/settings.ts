// The settings of the server for the playground. They are read once.
export interface DemoLogin {
  login: string;
  password: string;
}

export interface ServerSettings {
  // The login of the demo account, if the server has demo data.
  demo: DemoLogin | null;
  // Whether the server shows its outbox: its emails are files, and the page is open on the same machine.
  hasOutbox: boolean;
}

const NONE: ServerSettings = { demo: null, hasOutbox: false };
let settings: Promise<ServerSettings> | null = null;

export function fetchSettings(): Promise<ServerSettings> {
  settings ??= read().catch(() => {
    // The forms work without it; the next caller asks again.
    settings = null;
    return NONE;
  });
  return settings;
}

async function read(): Promise<ServerSettings> {
  const response = await fetch('/playground.json');
  const { demo, outbox } = await response.json();
  return { demo: demo?.login && demo?.password ? demo : null, hasOutbox: outbox === true };
}
