// Money comes as a decimal in text, exact to the billionth, and stays exact: nothing here makes a floating number of it.
const PLACES = 9;
const ONE = 10n ** BigInt(PLACES);
const MONEY = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: PLACES });

// Grouped as the reader is used to, with two decimals or as many as there are. Intl formats a text exactly.
export function money(decimal: string): string {
  return MONEY.format(decimal as Intl.StringNumericLiteral);
}

// What remains of an amount after another is subtracted; 0 when that is more.
export function less(decimal: string, subtracted: string): string {
  const left = billionths(decimal) - billionths(subtracted);
  return text(left > 0n ? left : 0n);
}

function billionths(decimal: string): bigint {
  const [whole = '', part = ''] = decimal.split('.');
  return BigInt(whole + part.padEnd(PLACES, '0'));
}

function text(billionths: bigint): string {
  const part = String(billionths % ONE).padStart(PLACES, '0').replace(/0+$/, '');
  return `${billionths / ONE}${part && `.${part}`}`;
}
