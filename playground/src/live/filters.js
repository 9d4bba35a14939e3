// The form of filters: what its fields ask for, and the server's word on it beside them.
//
// Bounds are the server's affair: the browser only sees that numbers are numbers.
const KINDS = {
  sample: (fields) => {
    const identifier = fields.get('identifier').trim();
    return { filter: { sample: { percent: Number(fields.get('percent')) } }, ...(identifier && { identifier }) };
  },
  track: (fields) => ({ filter: { track: rows(fields.get('track')) } }),
  follow: (fields) => ({ filter: { follow: rows(fields.get('follow')).map((login) => login.replace(/^@/, '')) } }),
  locations: (fields) => ({ filter: { locations: boxes(fields) } }),
};
const EDGES = ['minLongitude', 'minLatitude', 'maxLongitude', 'maxLatitude'];

export class Filters {
  #form;
  #boxes;
  #box;

  // `onApply`: somebody asks for what asked() gives.
  constructor(form, onApply) {
    this.#form = form;
    this.#boxes = form.querySelector('.boxes');
    this.#box = this.#boxes.firstElementChild.cloneNode(true);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      onApply();
    });
    form.addEventListener('change', ({ target }) => target.name === 'kind' && this.#choose());
    form.querySelector('.add-box').addEventListener('click', () => this.#addBox());
    this.#boxes.addEventListener('click', ({ target }) => target.matches('.remove-box') && this.#removeBox(target));
    this.#choose();
  }

  // The variables of the subscription.
  asked() {
    this.#complain('');
    return KINDS[this.#kind()](new FormData(this.#form));
  }

  // What the server has against it.
  refuse(message) {
    this.#complain(message);
    this.#chosen().querySelector('input, textarea').focus();
  }

  #kind() {
    return this.#form.elements.kind.value;
  }

  #chosen() {
    return this.#form.querySelector(`[data-kind='${this.#kind()}']`);
  }

  // Fields of the other kinds are disabled, so that nothing in them holds up the form.
  #choose() {
    for (const fieldset of this.#form.querySelectorAll('[data-kind]')) {
      fieldset.hidden = fieldset.disabled = fieldset !== this.#chosen();
    }
  }

  #complain(message) {
    for (const error of this.#form.querySelectorAll('.error')) error.textContent = '';
    const chosen = this.#chosen();
    chosen.querySelector('.error').textContent = message;
    for (const field of chosen.querySelectorAll('input, textarea')) field.setAttribute('aria-invalid', String(message !== ''));
  }

  #addBox() {
    const box = this.#box.cloneNode(true);
    for (const input of box.querySelectorAll('input')) input.value = '';
    this.#boxes.append(box);
    box.querySelector('input').focus();
  }

  // The last one stays: a filter without a box is none.
  #removeBox(button) {
    if (this.#boxes.children.length === 1) return;
    button.closest('.box').remove();
    this.#form.querySelector('.add-box').focus();
  }
}

// One a line.
function rows(text) {
  return text
    .split('\n')
    .map((row) => row.trim())
    .filter(Boolean);
}

function boxes(fields) {
  const edges = EDGES.map((name) => fields.getAll(name).map(Number));
  return edges[0].map((_, at) => Object.fromEntries(EDGES.map((name, edge) => [name, edges[edge][at]])));
}
