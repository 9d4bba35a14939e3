// A list of names and values. A null value is left out.
export type Fact = [name: string, value: string | null];

export function Facts({ facts, className = '' }: { facts: Fact[]; className?: string }) {
  const known = facts.filter(([, value]) => value !== null);
  return (
    <dl className={`facts ${className}`}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
