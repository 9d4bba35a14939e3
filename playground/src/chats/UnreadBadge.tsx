// A number in a circle. Nothing if it is zero.
const NUMBER = new Intl.NumberFormat();
const MOST = 99;

export function UnreadBadge({ count, one, many }: { count: number; one: string; many: string }) {
  if (count === 0) return null;
  return (
    <>
      {' '}
      <span className="badge">
        <span aria-hidden="true">{count > MOST ? `${MOST}+` : count}</span>
        <span className="visually-hidden">
          {NUMBER.format(count)} {count === 1 ? one : many}
        </span>
      </span>
    </>
  );
}
