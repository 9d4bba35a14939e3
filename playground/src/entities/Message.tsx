// The text of a status or a comment, with its mentions, tags and links as links.
import { Link } from 'react-router';
import type { TextEntitiesFragment } from './fragments/TextEntities.generated.ts';
import { piecesOf, type Piece } from './pieces.ts';

interface Props {
  text: string;
  entities: TextEntitiesFragment;
}

export function Message({ text, entities }: Props) {
  return (
    <p className="message" dir="auto">
      {piecesOf(text, entities).map((piece, at) => (
        <Part key={at} piece={piece} />
      ))}
    </p>
  );
}

function Part({ piece }: { piece: Piece }) {
  switch (piece.kind) {
    case 'mention':
      return <Link to={`/profile/${encodeURIComponent(piece.login)}`}>{piece.text}</Link>;
    case 'tag':
      return <Link to={`/tag/${encodeURIComponent(piece.name)}`}>{piece.text}</Link>;
    case 'link':
      // Written by a stranger: the page that it leads to gets no reference to this one.
      return (
        <a href={piece.url} target="_blank" rel="noopener noreferrer nofollow ugc">
          {piece.text}
        </a>
      );
    default:
      return piece.text;
  }
}
