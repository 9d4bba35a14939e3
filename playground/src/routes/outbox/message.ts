// Reads a message as the server composes it: its headers, and the plain text among its parts.
export interface Message {
  to: string;
  subject: string;
  date: string | null;
  text: string;
}

export function parseMessage(source: string): Message {
  const { headers, body } = split(source);
  const date = Date.parse(headers.get('date') ?? '');
  return {
    to: headers.get('to') ?? '',
    subject: decodeWords(headers.get('subject') ?? ''),
    date: Number.isNaN(date) ? null : new Date(date).toISOString(),
    text: plainText(headers, body).trim(),
  };
}

type Headers = Map<string, string>;

function split(source: string): { headers: Headers; body: string } {
  const text = source.replaceAll('\r\n', '\n');
  const end = text.indexOf('\n\n');
  const [head, body] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 2)];
  // A line that begins with a space continues the one before.
  const lines = head.replace(/\n[ \t]+/g, ' ').split('\n');
  return { headers: new Map(lines.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()])), body };
}

// The first part that is plain text.
function plainText(headers: Headers, body: string): string {
  const boundary = headers.get('content-type')?.match(/boundary="?([^";]+)"?/)?.[1];
  if (!boundary) return decode(headers.get('content-transfer-encoding'), body);
  const parts = `\n${body}`.split(`\n--${boundary}`).slice(1);
  const found = parts.map((part) => split(part.replace(/^[^\n]*\n/, ''))).find((part) => /^text\/plain\b/.test(part.headers.get('content-type') ?? ''));
  return found ? plainText(found.headers, found.body) : '';
}

function decode(encoding: string | undefined, body: string): string {
  switch (encoding?.toLowerCase()) {
    case 'quoted-printable':
      return quotedPrintable(body.replace(/=\n/g, ''));
    case 'base64':
      return utf8(atob(body.replace(/\s/g, '')));
    default:
      return body;
  }
}

const quotedPrintable = (text: string) => utf8(text.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));

// Words of a header that are not ASCII: =?utf-8?b?…?= and =?utf-8?q?…?=.
function decodeWords(text: string): string {
  const joined = text.replace(/\?=\s+=\?/g, '?==?');
  return joined.replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
    kind.toLowerCase() === 'b' ? utf8(atob(word)) : quotedPrintable(word.replaceAll('_', ' ')),
  );
}

// Each character is a byte.
const utf8 = (bytes: string) => new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));

// The text in pieces, of which every other one is a URL.
export const withUrls = (text: string): string[] => text.split(/(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)])/);
