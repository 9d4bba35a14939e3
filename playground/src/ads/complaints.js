// What the server has against a form's input, each row beside the field that its path names, and all others in the form's own place.

// The form's own place: what is said beside a field may stand next to it.
const OWN = ':scope > .error:not(.beside)';
let fields = 0;

export function complain(form, complaints) {
  const others = complaints.filter(({ message, path }) => {
    const field = fieldOf(form, path);
    if (field) beside(field, message);
    return !field;
  });
  form.querySelector(OWN).textContent = others.map(({ message }) => message).join(' ');
  form.querySelector('[aria-invalid=true]')?.focus();
}

export function forgive(form) {
  form.querySelector(OWN).textContent = '';
  for (const said of form.querySelectorAll('.error.beside')) said.remove();
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.setAttribute('aria-describedby', described(field).slice(0, -1).join(' '));
  }
}

// The innermost part of the path that is a field in sight: `["keywords", "2"]` is the third row of `keywords`.
function fieldOf(form, path) {
  const named = path.toReversed().map((name) => form.elements.namedItem(aliasOf(name)));
  return named.find((field) => field?.offsetParent) ?? null;
}

// A cap's time is a number and a unit.
const aliasOf = (name) => ({ perSeconds: 'per', frequencyCap: 'impressions' })[name] ?? name;

function beside(field, message) {
  if (field.getAttribute('aria-invalid') === 'true') return void (document.getElementById(described(field).at(-1)).textContent += ` ${message}`);
  const said = document.createElement('p');
  said.className = 'error beside';
  said.id = `said-${++fields}`;
  said.role = 'alert';
  // Not within the label: what is wrong with a field is not its name.
  field.closest('label').after(said);
  said.textContent = message;
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', [...described(field), said.id].join(' '));
}

const described = (field) => (field.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean);
