// The tabs that a first visit opens: the main operations of the API, from the folder `operations`, in the order in which a newcomer to an empty
// server needs them.
const documents = import.meta.glob<string>('../../../operations/*.graphql', { query: '?raw', import: 'default', eager: true });
const variables = import.meta.glob<string>('../../../operations/*.json', { query: '?raw', import: 'default', eager: true });

const ORDER = [
  'SignUp', 'Viewer', 'PostStatus', 'PublicStream', 'LikeStatus', 'AddComment', 'Thread', 'Home', 'HomeEvents', 'Profile', 'Follow', 'StatusPage',
  'EditStatus', 'RepostStatus', 'SetRepostsShown', 'Quote', 'Reply', 'ReplyPolicy', 'Conversation', 'Entities', 'Tag', 'FollowTag', 'TagEvents', 'Mentions', 'MentionEvents',
  'Bookmark', 'Bookmarks', 'Pin',
  'PostTo', 'Relation', 'Requests',
  'CreateGroup', 'SendMessage', 'Chats', 'Messages', 'ReactToMessage', 'EditMessage', 'MarkSeen', 'PendingMessages', 'ChatEvents', 'MuteChat', 'AddMembers',
  'StartChat', 'ChatRequests',
  'Block',
  'CreateCampaign', 'CreateAd', 'RegisterWebsite', 'ServeAds',
  'Account', 'ChangeLogin', 'ChangePassword',
];

export const defaultTabs = ORDER.map((name) => ({
  query: (documents[`../../../operations/${name}.graphql`] ?? '').trim(),
  variables: (variables[`../../../operations/${name}.json`] ?? '').trim(),
}));

// GraphiQL stores the text of the active tab a second time, apart from the tabs and a moment later. Where the two differ it opens another tab: on a first
// visit, which has neither, and after a quick reload. So both are made the same before it starts.
export function prepareStorage(): void {
  try {
    const active = storedTab() ?? defaultTabs[0];
    localStorage.setItem('graphiql:query', active?.query ?? '');
    localStorage.setItem('graphiql:variables', active?.variables ?? '');
  } catch {
    // Without storage only the variables of the first tab are missing.
  }
}

function storedTab(): { query?: string | null; variables?: string | null } | null {
  const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '{}');
  return tabs?.[activeTabIndex] ?? null;
}
