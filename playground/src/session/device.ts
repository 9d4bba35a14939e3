// Keeps the device token of each login, so that failed log-ins from elsewhere never keep its user out.
//
// A device token outlives the session: it is for the next log-in, and gives no access.
const KEY = 'waxwing.devices';
// Of more logins the oldest is forgotten: its next log-in is one of an unknown device.
const MAX_LOGINS = 20;

export function deviceToken(login: string): string | null {
  return load()[login.toLowerCase()] ?? null;
}

export function keepDeviceToken(login: string, token: string): void {
  const { [login.toLowerCase()]: _, ...others } = load();
  const kept = [...Object.entries(others), [login.toLowerCase(), token]].slice(-MAX_LOGINS);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // A browser may refuse storage: then the device is unknown next time.
  }
}

function load(): Record<string, string> {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return kept && typeof kept === 'object' ? kept : {};
  } catch {
    return {};
  }
}
