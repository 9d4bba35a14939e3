// Counts new comments outside of the viewport, and scrolls to the first of them.
import { useEffect, useRef, useState } from 'react';

export function useUnseen(arrived: readonly string[], list: React.RefObject<HTMLElement | null>) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const observer = useRef<IntersectionObserver | null>(null);

  useEffect(() => {
    const see = (entries: IntersectionObserverEntry[]) => {
      const seen = entries.filter((entry) => entry.isIntersecting).map(({ target }) => idOf(target));
      if (seen.length > 0) setIds((ids) => new Set([...ids].filter((id) => !seen.includes(id))));
    };
    observer.current = new IntersectionObserver(see);
    return () => observer.current?.disconnect();
  }, []);

  useEffect(() => {
    const articles = arrived.map((id) => articleOf(list.current, id)).filter((article) => article !== null);
    setIds((ids) => new Set([...ids, ...articles.map(idOf)]));
    for (const article of articles) observer.current?.observe(article);
  }, [arrived]);

  // Some may have been deleted since.
  const shown = [...ids].map((id) => articleOf(list.current, id)).filter((article) => article !== null);
  const first = () => shown.sort((one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))[0];
  return {
    count: shown.length,
    clear: () => setIds(new Set()),
    go(reveal: (id: string) => void) {
      const article = first();
      if (!article) return;
      reveal(idOf(article));
      article.scrollIntoView({ block: 'center' });
      article.focus({ preventScroll: true });
    },
  };
}

const idOf = (article: Element) => article.parentElement?.dataset.id ?? '';

export function articleOf(list: HTMLElement | null, id: string): HTMLElement | null {
  return list?.querySelector(`[data-id='${CSS.escape(id)}'] > article`) ?? null;
}
