// A text as a list of pieces: plain text, mentions, tags and links. Entities do not overlap.
import type { TextEntitiesFragment } from './fragments/TextEntities.generated.ts';

export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'mention'; text: string; login: string }
  | { kind: 'tag'; text: string; name: string }
  | { kind: 'link'; text: string; url: string };

export function piecesOf(text: string, { mentions, tags, links }: TextEntitiesFragment): Piece[] {
  const at = ({ start, end }: { start: number; end: number }) => ({ start, end, text: text.slice(start, end) });
  const entities = [
    ...mentions.map(({ range, user }) => ({ ...at(range), kind: 'mention' as const, login: user.login })),
    ...tags.map(({ range, tag }) => ({ ...at(range), kind: 'tag' as const, name: tag.name })),
    ...links.map(({ range, url }) => ({ ...at(range), kind: 'link' as const, url })),
  ].toSorted((one, other) => one.start - other.start);
  const pieces: Piece[] = [];
  let end = 0;
  for (const entity of entities) {
    if (entity.start > end) pieces.push({ kind: 'text', text: text.slice(end, entity.start) });
    pieces.push(entity);
    end = entity.end;
  }
  return end < text.length ? [...pieces, { kind: 'text', text: text.slice(end) }] : pieces;
}
