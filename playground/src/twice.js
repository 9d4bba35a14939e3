// Buttons that ask once more, on themselves, before they do what cannot be undone. One listener for a whole list, whatever comes into it.
// What a button says when nobody is at it.
const labels = new WeakMap();

// `act` does it and answers what the button says then, if anything. `asked` is the question.
export function twice(list, selector, act, asked = 'Delete for everybody?') {
  list.addEventListener('click', ({ target }) => target.matches(selector) && void pressed(target, act, asked));
  list.addEventListener('focusout', ({ target }) => target.matches(selector) && calm(target));
}

async function pressed(button, act, asked) {
  if (button.textContent !== asked) return ask(button, asked);
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  const said = await act(button);
  button.removeAttribute('aria-disabled');
  if (said) button.textContent = said;
  else calm(button);
}

function ask(button, asked) {
  if (!labels.has(button)) labels.set(button, button.textContent);
  button.textContent = asked;
}

function calm(button) {
  if (labels.has(button)) button.textContent = labels.get(button);
  labels.delete(button);
}
