// A publisher's websites, and the form that registers one.
import { askingForm } from './asking-form.js';
import { fromTemplate } from './element.js';
import { ask } from './operations.js';
import { Pages } from './pages.js';

// `onTry` is given the key of a website.
export function websiteList(section, onTry) {
  return new Pages(section, { operation: 'Websites', item: (website) => item(website, onTry), nothing: 'You have none yet.' });
}

export function registerForm(form, onRegistered) {
  let registered = null;
  const act = async (fields, idempotencyKey) => {
    const { payload, complaints } = await ask('RegisterWebsite', { input: { ...Object.fromEntries(fields), idempotencyKey } });
    registered = payload?.website;
    return complaints;
  };
  askingForm(form, act, () => {
    form.reset();
    onRegistered(registered);
  });
}

function item({ name, origin, key, isSuspended }, onTry) {
  const { element, part } = fromTemplate('website');
  part('name').textContent = name;
  part('origin').textContent = origin;
  part('suspended').hidden = !isSuspended;
  part('key').value = key;
  part('key').addEventListener('focus', ({ target }) => target.select());
  part('try').addEventListener('click', () => onTry(key));
  part('copy').addEventListener('click', ({ target }) => void copy(target, part('key')));
  return element;
}

// Without HTTPS there is no clipboard but by hand: then the key is selected for that.
async function copy(button, field) {
  const isCopied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
  button.textContent = isCopied ? 'Copied' : 'Copy it from the field';
  if (!isCopied) field.focus();
}
