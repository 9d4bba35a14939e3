// A menu of the orders of a list.
interface Props<Sort extends string> {
  sorts: Record<Sort, string>;
  sort: Sort;
  onChange: (sort: Sort) => void;
}

export function SortChoice<Sort extends string>({ sorts, sort, onChange }: Props<Sort>) {
  return (
    <label>
      <span className="visually-hidden">Sort by</span>
      <select autoComplete="off" value={sort} onChange={({ target }) => onChange(target.value as Sort)}>
        {Object.entries<string>(sorts).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
