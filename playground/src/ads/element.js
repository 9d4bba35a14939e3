// Small parts of the page. Whatever comes from people or from the server is put in as text.

// A template's only child, and a way to its parts.
export function fromTemplate(id) {
  const element = document.getElementById(id).content.firstElementChild.cloneNode(true);
  return { element, part: (name) => element.querySelector(`.${name}`) };
}

// A list of names and what they are: `[['Budget', '100.00']]`. What is null is left out.
export function facts(list, pairs) {
  const known = pairs.filter(([, text]) => text !== null);
  list.replaceChildren(...known.map(([name, text]) => pair(name, text)));
}

function pair(name, text) {
  const element = document.createElement('div');
  element.append(named('dt', name), named('dd', text));
  return element;
}

export function named(tag, text, className) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}
