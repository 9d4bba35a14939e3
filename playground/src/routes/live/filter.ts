// Builds the filter from the fields of the form.
import type { Filter } from '../../timeline/usePublic.ts';

export const KINDS = { sample: 'Sample', track: 'Words', follow: 'People', locations: 'Places' };
export type Kind = keyof typeof KINDS;

export const EDGES = ['minLongitude', 'minLatitude', 'maxLongitude', 'maxLatitude'] as const;

export function filterOf(kind: Kind, fields: FormData): Filter {
  const text = (name: string) => String(fields.get(name) ?? '');
  if (kind === 'track') return { filter: { track: rows(text('track')) } };
  if (kind === 'follow') return { filter: { follow: rows(text('follow')).map((login) => login.replace(/^@/, '')) } };
  if (kind === 'locations') return { filter: { locations: boxes(fields) } };
  const identifier = text('identifier').trim();
  return { filter: { sample: { percent: Number(text('percent')) } }, ...(identifier && { identifier }) };
}

// One per line.
function rows(text: string): string[] {
  return text
    .split('\n')
    .map((row) => row.trim())
    .filter(Boolean);
}

function boxes(fields: FormData) {
  const edge = (name: string, at: number) => Number(fields.getAll(name)[at]);
  return fields.getAll(EDGES[0]).map((_, at) => ({
    minLongitude: edge('minLongitude', at),
    minLatitude: edge('minLatitude', at),
    maxLongitude: edge('maxLongitude', at),
    maxLatitude: edge('maxLatitude', at),
  }));
}
