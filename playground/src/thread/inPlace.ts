// Keeps what is being read where it is, whatever comes in above it. Browsers do so by themselves too, but not for who reads at the very top.
import { flushSync } from 'react-dom';

const COMMENT = '.comment > article';

// The comment with the keyboard's focus, or else the first one that is in sight from its beginning, stays where it is during a change, and the
// focus stays with it.
export function inPlace(list: HTMLElement | null, change: () => void): void {
  if (!list) return flushSync(change);
  const box = scroller(list);
  const top = box === document.scrollingElement ? 0 : box.getBoundingClientRect().top;
  const reading = readingIn(list, top);
  const before = reading && topOf(reading);
  const focused = list.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const above = focused && articlesAbove(focused);
  flushSync(change);
  if (reading?.isConnected && before !== null) box.scrollTop += topOf(reading) - before;
  if (!focused || document.activeElement === focused || document.activeElement !== document.body) return;
  const target = focused.isConnected ? focused : (above?.find((article) => article.isConnected) ?? list);
  target.focus({ preventScroll: true });
}

function readingIn(list: HTMLElement, top: number): HTMLElement | null {
  const isSeen = (element: HTMLElement) => topOf(element) >= top && topOf(element) < innerHeight;
  const focused = document.activeElement?.closest<HTMLElement>(COMMENT);
  if (focused && list.contains(focused) && isSeen(focused)) return focused;
  const shown = [...list.querySelectorAll<HTMLElement>(COMMENT)].filter((element) => element.offsetParent);
  return shown.find(isSeen) ?? null;
}

// Where the keyboard continues when the comment that it is in goes.
function articlesAbove(element: HTMLElement): HTMLElement[] {
  const item = element.closest('.comment');
  const above = item?.parentElement?.closest('.comment');
  const article = above?.querySelector<HTMLElement>(':scope > article');
  return article ? [article, ...articlesAbove(article)] : [];
}

// On a wide screen the thread scrolls by itself, on a narrow one with the page.
function scroller(element: HTMLElement): Element {
  const own = element.closest('.thread');
  return own && getComputedStyle(own).overflowY === 'auto' ? own : (document.scrollingElement ?? document.documentElement);
}

const topOf = (element: HTMLElement) => element.getBoundingClientRect().top;
