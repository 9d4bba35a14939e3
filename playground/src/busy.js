// One press of a button at a time. It is marked rather than disabled: a disabled button would lose the keyboard's focus.
export async function whileBusy(button, act) {
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  try {
    await act();
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
