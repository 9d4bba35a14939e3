// What the answers so far have told, for the variables of the operations that follow: the id of the status that was posted, the cursor of the public
// stream, the key of the website.
import { currentToken } from '../../session/store.ts';

// Each fact has the places in an answer that tell it. A later place wins over an earlier one.
const SOURCES = {
  status: [['homeTimeline', 'entries', 'edges', '0', 'node', 'status', 'id'], ['postStatus', 'status', 'id']],
  user: [['user', 'id']],
  publicCursor: [['statusEventsSyncCursor']],
  homeCursor: [['homeTimeline', 'syncCursor']],
  campaign: [['createCampaign', 'campaign', 'id']],
  website: [['registerWebsite', 'website', 'key']],
};
type Fact = keyof typeof SOURCES;

// The variable of an operation that a fact fills.
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
// Whose answers they were: a cursor of one home is none of another.
let knownTo = currentToken();

export function learn(data: unknown): void {
  if (currentToken() !== knownTo) known.clear();
  knownTo = currentToken();
  for (const [fact, places] of Object.entries(SOURCES)) {
    const told = places.map((path) => at(data, path)).findLast((value) => typeof value === 'string');
    // The cursors that came first show most.
    if (typeof told === 'string' && !(fact.endsWith('Cursor') && known.has(fact))) known.set(fact, told);
  }
}

// The variables with what is known put in. Null where nothing changes: what somebody has written stays.
export function filled(operation: string | null | undefined, variables: string): string | null {
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
