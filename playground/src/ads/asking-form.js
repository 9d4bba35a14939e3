// A form that asks the server for something: busy while it does, and what the server has against it beside the field that it concerns.
import { whileBusy } from '../busy.js';
import { newKey } from '../new-key.js';
import { complain, forgive } from './complaints.js';

// `act` is given the fields and a key, and answers the complaints; with none, `done` follows. The key is the same for every try of one input:
// what was sent already, and only its answer lost, is not there twice.
export function askingForm(form, act, done = () => {}) {
  const button = form.querySelector('button:not([type])');
  let key = newKey();
  form.addEventListener('input', () => {
    key = newKey();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(button, send);
  });

  async function send() {
    forgive(form);
    const complaints = await act(new FormData(form), key);
    complain(form, complaints);
    if (complaints.length > 0) return;
    key = newKey();
    await done();
  }
}
