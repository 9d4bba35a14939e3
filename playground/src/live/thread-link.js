// Which thread is open: it stands in the page's address, so that it can be linked to, outlives a reload and is left by going back.
const NAME = 'thread';

// The status whose thread is open, or null.
export function openThread() {
  return new URLSearchParams(location.hash.slice(1)).get(NAME);
}

// Opens another one; null closes it.
export function linkThread(statusId) {
  location.hash = statusId ? new URLSearchParams({ [NAME]: statusId }) : '';
}

export function onThread(listener) {
  addEventListener('hashchange', listener);
}
