// Money comes as a decimal in text, exact to the billionth, and stays exact: nothing here makes a floating number of it.
const PLACES = 9;
const ONE = 10n ** BigInt(PLACES);
const MONEY = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: PLACES });

// Grouped as the reader is used to, with two decimals or as many as there are. Intl takes a text as it stands.
export function money(decimal) {
  return MONEY.format(decimal);
}

// What is left of one after the other is taken away; nothing when that is more.
export function less(decimal, taken) {
  const left = billionths(decimal) - billionths(taken);
  return text(left > 0n ? left : 0n);
}

function billionths(decimal) {
  const [whole, part = ''] = decimal.split('.');
  return BigInt(whole + part.padEnd(PLACES, '0'));
}

function text(billionths) {
  const part = String(billionths % ONE).padStart(PLACES, '0').replace(/0+$/, '');
  return `${billionths / ONE}${part && `.${part}`}`;
}
