// A Decimal is an exact string such as "2.25", with at most nine decimals. A number would lose digits, so sums use billionths as integers.
const BILLION = 1_000_000_000n;

export function billionths(decimal: string): bigint {
  const [, sign, whole, fraction] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(decimal) ?? [];
  if (whole === undefined) throw new Error(`No decimal: ${decimal}`);
  const amount = BigInt(whole) * BILLION + BigInt((fraction ?? '').padEnd(9, '0'));
  return sign ? -amount : amount;
}

export function decimal(amount: bigint): string {
  const [sign, size] = amount < 0n ? ['-', -amount] : ['', amount];
  const fraction = String(size % BILLION).padStart(9, '0').replace(/0+$/, '');
  return `${sign}${size / BILLION}${fraction && `.${fraction}`}`;
}
