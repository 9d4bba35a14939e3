// A keyword of a campaign, and the button that takes it away.
import { named } from './element.js';

export function keywordItem(keyword) {
  const item = document.createElement('li');
  const word = named('span', keyword);
  word.dir = 'auto';
  const button = named('button', '×', 'quiet');
  button.type = 'button';
  button.dataset.keyword = keyword;
  button.setAttribute('aria-label', `Remove ${keyword}`);
  item.append(word, button);
  return item;
}
