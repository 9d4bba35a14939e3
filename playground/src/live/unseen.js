// What has come in where nobody looks: a button says how many there are and leads to the first of them.
export class Unseen {
  #button;
  #articles = new Set();
  #observer = new IntersectionObserver((entries) => this.#look(entries));

  // `reveal` is told which comment is to be shown.
  constructor(button, reveal) {
    this.#button = button;
    button.addEventListener('click', () => this.#go(reveal));
  }

  add(article) {
    this.#articles.add(article);
    this.#observer.observe(article);
    this.settle();
  }

  clear() {
    this.#observer.disconnect();
    this.#articles.clear();
    this.settle();
  }

  // Some of them may have gone.
  settle() {
    for (const article of this.#articles) if (!article.isConnected) this.#forget(article);
    this.#button.hidden = this.#articles.size === 0;
    this.#button.textContent = `${this.#articles.size} new`;
  }

  #look(entries) {
    for (const { target, isIntersecting } of entries) if (isIntersecting) this.#forget(target);
    this.settle();
  }

  #forget(article) {
    this.#articles.delete(article);
    this.#observer.unobserve(article);
  }

  #go(reveal) {
    const [first] = [...this.#articles].sort((one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    reveal(first.closest('.comment').dataset.id);
    first.scrollIntoView({ block: 'center' });
    first.focus({ preventScroll: true });
  }
}
