// Stores the device token of each login. A log-in with a device token is not blocked by failed log-ins of other devices.
//
// A device token is valid beyond the session, for the next log-in, and gives no access.
const KEY = 'waxwing.devices';
// Beyond it the oldest login is removed: its next log-in comes from an unknown device.
const MAX_LOGINS = 20;

export function deviceToken(login: string): string | null {
  const [tokens, key] = [load(), login.toLowerCase()];
  // A login may be `constructor`, which every object inherits.
  return Object.hasOwn(tokens, key) ? (tokens[key] ?? null) : null;
}

export function keepDeviceToken(login: string, token: string): void {
  const { [login.toLowerCase()]: _, ...others } = load();
  const kept = [...Object.entries(others), [login.toLowerCase(), token]].slice(-MAX_LOGINS);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // A browser may refuse storage: then the next log-in comes from an unknown device.
  }
}

// The account has another login.
export function renameDevice(login: string, next: string): void {
  const token = deviceToken(login);
  if (token) keepDeviceToken(next, token);
}

function load(): Record<string, string> {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return kept && typeof kept === 'object' ? kept : {};
  } catch {
    return {};
  }
}
