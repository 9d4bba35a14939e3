// Splits a message into text and links. Messages are plain text: a frontend renders the parts as elements, never as HTML.
export type Part = { text: string; href?: string };

const LINK = /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]]/g;

export function parts(message: string): Part[] {
  const found: Part[] = [];
  let end = 0;
  for (const match of message.matchAll(LINK)) {
    if (match.index > end) found.push({ text: message.slice(end, match.index) });
    found.push({ text: match[0], href: match[0] });
    end = match.index + match[0].length;
  }
  if (end < message.length) found.push({ text: message.slice(end) });
  return found;
}
