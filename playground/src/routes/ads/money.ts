// Money is a decimal string with up to nine decimals. It is never converted to a floating-point number here.
const PLACES = 9;
const ONE = 10n ** BigInt(PLACES);
const MONEY = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: PLACES });

// Formats an amount in the reader's locale, with at least two decimals. Intl formats a string exactly.
export function money(decimal: string): string {
  return MONEY.format(decimal as Intl.StringNumericLiteral);
}

// Subtracts one amount from another. Returns 0 instead of a negative amount.
export function subtract(decimal: string, subtracted: string): string {
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
