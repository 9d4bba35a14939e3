// Keeps this browser's device token of each login, so that failed log-ins from elsewhere never keep its user out.
//
// In localStorage, unlike the session: a token is for the next log-in, after the session and its tab are gone, and it gives no access.
const KEY = 'waxwing.devices';
// Of more logins the oldest is forgotten: its next log-in is one of a device that is not known.
const MOST = 20;

export function deviceToken(login) {
  return load()[login.toLowerCase()] ?? null;
}

export function keepDeviceToken(login, token) {
  const { [login.toLowerCase()]: _, ...others } = load();
  const kept = [...Object.entries(others), [login.toLowerCase(), token]].slice(-MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // A browser may refuse storage: then the device is not known next time.
  }
}

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return kept && typeof kept === 'object' ? kept : {};
  } catch {
    return {};
  }
}
