// Keeps what is being read where it is, whatever comes in above it. Browsers do so by themselves too, but not for who reads at the very top.

// The comment with the keyboard's focus, or else the first one that is seen whole from its beginning, stays where it is during a change.
export function inPlace(list, change) {
  const box = scroller(list);
  const top = box === document.scrollingElement ? 0 : box.getBoundingClientRect().top;
  const read = reading(list, top);
  const before = read && topOf(read);
  change();
  if (read?.isConnected) box.scrollTop += topOf(read) - before;
}

function reading(list, top) {
  const isSeen = (element) => topOf(element) >= top && topOf(element) < innerHeight;
  const focused = document.activeElement.closest('.comment > article');
  if (focused && list.contains(focused) && isSeen(focused)) return focused;
  const shown = [...list.querySelectorAll('.comment > article')].filter((element) => element.offsetParent);
  return shown.find(isSeen) ?? null;
}

// On a wide screen the thread scrolls by itself, on a narrow one with the page.
function scroller(element) {
  const own = element.closest('#thread');
  return getComputedStyle(own).overflowY === 'auto' ? own : document.scrollingElement;
}

const topOf = (element) => element.getBoundingClientRect().top;
