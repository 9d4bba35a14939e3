// Values of earlier responses that fill the variables of later operations: the id of the posted status, the cursor of the public stream, the key of the
// website, the id of the chat.
import { currentToken, type Token } from '../../session/store.ts';

// The paths of each value in a response. The last path that is found wins.
const SOURCES = {
  status: [['homeTimeline', 'entries', 'edges', '0', 'node', 'status', 'id'], ['postStatus', 'status', 'id']],
  user: [['user', 'id']],
  publicCursor: [['statusEventsSyncCursor']],
  homeCursor: [['homeTimeline', 'syncCursor']],
  chat: [['viewerChats', 'edges', '0', 'node', 'id'], ['startDirectChat', 'chat', 'id'], ['createGroupChat', 'chat', 'id']],
  message: [['sendMessage', 'chatMessage', 'id']],
  chatsCursor: [['viewerChats', 'syncCursor']],
  campaign: [['createCampaign', 'campaign', 'id']],
  website: [['registerWebsite', 'website', 'key']],
};
type ValueName = keyof typeof SOURCES;

// The variable that an operation takes a value for.
const TARGETS: Record<string, { path: string[]; value: ValueName }> = {
  PublicStream: { path: ['after'], value: 'publicCursor' },
  HomeEvents: { path: ['after'], value: 'homeCursor' },
  LikeStatus: { path: ['input', 'statusId'], value: 'status' },
  AddComment: { path: ['input', 'statusId'], value: 'status' },
  Thread: { path: ['statusId'], value: 'status' },
  EditStatus: { path: ['input', 'statusId'], value: 'status' },
  RepostStatus: { path: ['input', 'statusId'], value: 'status' },
  Quote: { path: ['input', 'quotedStatusId'], value: 'status' },
  Reply: { path: ['input', 'replyToId'], value: 'status' },
  ReplyPolicy: { path: ['input', 'statusId'], value: 'status' },
  Entities: { path: ['id'], value: 'status' },
  Bookmark: { path: ['input', 'statusId'], value: 'status' },
  Pin: { path: ['input', 'statusId'], value: 'status' },
  Conversation: { path: ['id'], value: 'status' },
  StatusPage: { path: ['id'], value: 'status' },
  Follow: { path: ['input', 'userId'], value: 'user' },
  Block: { path: ['input', 'userId'], value: 'user' },
  CreateGroup: { path: ['input', 'userIds', '0'], value: 'user' },
  SendMessage: { path: ['input', 'chatId'], value: 'chat' },
  Messages: { path: ['id'], value: 'chat' },
  ReactToMessage: { path: ['input', 'messageId'], value: 'message' },
  EditMessage: { path: ['input', 'messageId'], value: 'message' },
  MarkSeen: { path: ['input', 'chatId'], value: 'chat' },
  ChatEvents: { path: ['after'], value: 'chatsCursor' },
  MuteChat: { path: ['input', 'chatId'], value: 'chat' },
  AddMembers: { path: ['input', 'chatId'], value: 'chat' },
  StartChat: { path: ['input', 'userId'], value: 'user' },
  CreateAd: { path: ['input', 'campaignId'], value: 'campaign' },
  ServeAds: { path: ['input', 'websiteKey'], value: 'website' },
};

const values = new Map<string, string>();
// The session that the values belong to.
let valuesSession = currentToken();

// Ids and cursors of one account are invalid or wrong for another.
function clearValuesOfOtherSession(): void {
  if (currentToken() === valuesSession) return;
  values.clear();
  valuesSession = currentToken();
}

// Stores the values of a response to a request of the session `token`. A response that arrives after a log-in or log-out is ignored.
export function storeValues(data: unknown, token: Token | null): void {
  clearValuesOfOtherSession();
  if (token !== valuesSession) return;
  for (const [name, paths] of Object.entries(SOURCES)) {
    const value = paths.map((path) => at(data, path)).findLast((value) => typeof value === 'string');
    // The first cursor is kept: a subscription from there shows the most events.
    if (typeof value === 'string' && !(name.endsWith('Cursor') && values.has(name))) values.set(name, value);
  }
}

// Returns the variables with placeholders replaced by stored values, or null if nothing changes. The user's own values stay.
export function fillVariables(operation: string | null | undefined, variables: string): string | null {
  clearValuesOfOtherSession();
  const target = TARGETS[operation ?? ''];
  const value = target && values.get(target.value);
  const parsed = parse(variables);
  if (!target || !value || !parsed) return null;
  const holder = at(parsed, target.path.slice(0, -1)) as Record<string, unknown> | undefined;
  const name = target.path.at(-1) ?? '';
  if (!holder || !isPlaceholder(holder[name])) return null;
  holder[name] = value;
  return JSON.stringify(parsed, null, 2);
}

const isPlaceholder = (value: unknown) => value === null || (typeof value === 'string' && /^(ID|KEY)_OF_/.test(value));

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
