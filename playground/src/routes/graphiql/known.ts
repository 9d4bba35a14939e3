// Values of earlier answers that fill the variables of later operations: the id of the posted status, the cursor of the public stream, the key of the
// website.
import { currentToken, type Token } from '../../session/store.ts';

// The paths of each value in an answer. The last path that is found wins.
const SOURCES = {
  status: [['homeTimeline', 'entries', 'edges', '0', 'node', 'status', 'id'], ['postStatus', 'status', 'id']],
  user: [['user', 'id']],
  publicCursor: [['statusEventsSyncCursor']],
  homeCursor: [['homeTimeline', 'syncCursor']],
  campaign: [['createCampaign', 'campaign', 'id']],
  website: [['registerWebsite', 'website', 'key']],
};
type Fact = keyof typeof SOURCES;

// The variable that an operation takes a value for.
const TARGETS: Record<string, { path: string[]; fact: Fact }> = {
  PublicStream: { path: ['after'], fact: 'publicCursor' },
  HomeEvents: { path: ['after'], fact: 'homeCursor' },
  LikeStatus: { path: ['input', 'statusId'], fact: 'status' },
  AddComment: { path: ['input', 'statusId'], fact: 'status' },
  Thread: { path: ['statusId'], fact: 'status' },
  StatusPage: { path: ['id'], fact: 'status' },
  Follow: { path: ['input', 'userId'], fact: 'user' },
  CreateAd: { path: ['input', 'campaignId'], fact: 'campaign' },
  ServeAds: { path: ['input', 'websiteKey'], fact: 'website' },
};

const known = new Map<string, string>();
// The session that `known` belongs to.
let knownTo = currentToken();

// Ids and cursors of one account are invalid or wrong for another.
function forgetOtherSession(): void {
  if (currentToken() === knownTo) return;
  known.clear();
  knownTo = currentToken();
}

// Stores the values of an answer to a request of the session `token`. An answer that arrives after a log-in or log-out is ignored.
export function learn(data: unknown, token: Token | null): void {
  forgetOtherSession();
  if (token !== knownTo) return;
  for (const [fact, places] of Object.entries(SOURCES)) {
    const value = places.map((path) => at(data, path)).findLast((value) => typeof value === 'string');
    // The first cursor is kept: a subscription from there shows the most events.
    if (typeof value === 'string' && !(fact.endsWith('Cursor') && known.has(fact))) known.set(fact, value);
  }
}

// Returns the variables with placeholders replaced by known values, or null if nothing changes. What the user has written stays.
export function filled(operation: string | null | undefined, variables: string): string | null {
  forgetOtherSession();
  const target = TARGETS[operation ?? ''];
  const value = target && known.get(target.fact);
  const parsed = parse(variables);
  if (!target || !value || !parsed) return null;
  const holder = at(parsed, target.path.slice(0, -1)) as Record<string, unknown> | undefined;
  const name = target.path.at(-1) ?? '';
  if (!holder || !isOpen(holder[name])) return null;
  holder[name] = value;
  return JSON.stringify(parsed, null, 2);
}

const isOpen = (value: unknown) => value === null || (typeof value === 'string' && /^(ID|KEY)_OF_/.test(value));

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
