// Keeps the scroll position when comments are inserted above it. Browsers do so too (scroll anchoring), but not at the top of the page.
import { flushSync } from 'react-dom';

const COMMENT = '.comment > article';

// During a change, the comment with the focus keeps its position and the focus. Without a focus, the first comment whose top is visible does.
export function keepScrollPosition(list: HTMLElement | null, change: () => void): void {
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

// The element that takes the focus when the comment with the focus is removed.
function articlesAbove(element: HTMLElement): HTMLElement[] {
  const item = element.closest('.comment');
  const above = item?.parentElement?.closest('.comment');
  const article = above?.querySelector<HTMLElement>(':scope > article');
  return article ? [article, ...articlesAbove(article)] : [];
}

// On a wide screen the thread has its own scrolling, on a narrow one it scrolls with the page.
function scroller(element: HTMLElement): Element {
  const own = element.closest('.thread');
  return own && getComputedStyle(own).overflowY === 'auto' ? own : (document.scrollingElement ?? document.documentElement);
}

const topOf = (element: HTMLElement) => element.getBoundingClientRect().top;
