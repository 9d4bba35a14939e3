// The menu of who can see a status: everyone, followers, friends, or the members of one of the viewer's lists.
import { useQuery } from 'urql';
import { AUDIENCE_NAMES, audienceOf, valueOf, type Audience } from './audience.ts';
import { StatusListsDocument } from './operations/Lists.generated.ts';

interface Props {
  value: Audience;
  busy?: boolean;
  className?: string;
  onChange: (audience: Audience) => void;
}

export function AudienceMenu({ value, busy, className = '', onChange }: Props) {
  const [{ data }] = useQuery({ query: StatusListsDocument });
  const lists = data?.viewerLists?.edges.map(({ node }) => node) ?? [];
  const isKnown = value.audience !== 'LIST' || lists.some(({ id }) => id === value.audienceListId);
  return (
    <label className={`audience-menu ${className}`}>
      <span className="visually-hidden">Audience</span>
      <select autoComplete="off" value={valueOf(value)} aria-disabled={busy} onChange={({ target }) => busy || onChange(audienceOf(target.value))}>
        {Object.entries(AUDIENCE_NAMES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        <optgroup label="Members of a list">
          {lists.map(({ id, name }) => (
            <option key={id} value={`LIST ${id}`}>
              {name}
            </option>
          ))}
          {!isKnown && <option value={valueOf(value)}>{value.audienceListId ? 'A list' : 'A deleted list'}</option>}
          {lists.length === 0 && <option disabled>You have no lists</option>}
        </optgroup>
      </select>
    </label>
  );
}
