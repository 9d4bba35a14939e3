// The scroll position of the rows. While the end is visible, it stays visible; otherwise the first visible row keeps its position, if rows are added above
// or below it.
const ROW = '.row[data-sequence]';
// The distance from the end that counts as the end.
const END_PX = 40;
// Above the line "New messages", so that the row before it shows.
const LINE_PX = 60;

export class Place {
  isAtEnd = true;
  #row: HTMLElement | null = null;
  #top = 0;

  // Saves the first visible row and its position.
  save(box: HTMLElement): void {
    this.isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < END_PX;
    const top = topOf(box);
    const rows = [...box.querySelectorAll<HTMLElement>(ROW)];
    this.#row = rows.find((row) => row.getBoundingClientRect().bottom > top) ?? null;
    this.#top = this.#row ? topOf(this.#row) - top : 0;
  }

  // Restores the saved position after a change.
  restore(box: HTMLElement): void {
    if (this.isAtEnd) box.scrollTop = box.scrollHeight;
    else if (this.#row?.isConnected) box.scrollTop += topOf(this.#row) - topOf(box) - this.#top;
  }

  goTo(box: HTMLElement, target: 'line' | 'end' | number): void {
    if (typeof target === 'number') return this.#show(box, target);
    const line = target === 'line' ? box.querySelector('[data-line]') : null;
    box.scrollTop = line ? box.scrollTop + topOf(line) - topOf(box) - LINE_PX : box.scrollHeight;
  }

  #show(box: HTMLElement, sequence: number): void {
    const row = box.querySelector<HTMLElement>(`[data-sequence='${sequence}']`);
    row?.scrollIntoView({ block: 'center' });
    row?.focus({ preventScroll: true });
  }

  // The sequence of the last row that is visible.
  lastVisible(box: HTMLElement): number | null {
    const bottom = box.getBoundingClientRect().bottom;
    const rows = [...box.querySelectorAll<HTMLElement>(ROW)];
    // A high row is seen when its beginning is.
    const row = rows.findLast((row) => topOf(row) + Math.min(row.offsetHeight, 24) <= bottom + 1);
    return row ? Number(row.dataset.sequence) : null;
  }
}

const topOf = (element: Element) => element.getBoundingClientRect().top;
