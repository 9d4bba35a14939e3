// Runs GraphiQL's tabs from left to right on an empty store, as a new user would. Types only what the comments of the operations ask for.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { open } from './browser.mjs';
import { Playground } from './playground.mjs';
import { Server } from './server.mjs';

let server, browser, page, pageErrors, playground;

before(async () => {
  server = await Server.start({ demo: false });
  ({ browser, page, pageErrors } = await open(server.origin));
  playground = new Playground(page, server.origin);
});

after(async () => {
  await browser?.close();
  await server?.remove();
});

afterEach(() => assert.deepEqual(pageErrors.splice(0), []));

// Returns the first event of a subscription, which is of this type, then stops it.
async function firstEvent(name, type = 'StatusPosted') {
  await playground.select(name);
  await playground.execute().click();
  const event = await page.waitForFunction((type) => {
    const text = document.querySelector('.result-window .CodeMirror')?.CodeMirror.getValue();
    return text?.includes(type) && JSON.parse(text).data;
  }, type);
  await page.getByRole('button', { name: /^Stop query/ }).click();
  await playground.execute().waitFor();
  return Object.values(await event.jsonValue())[0];
}

const data = async (name) => {
  const { data, errors } = await playground.run(name);
  assert.equal(errors, undefined, `${name}: ${JSON.stringify(errors)}`);
  for (const payload of Object.values(data)) assert.deepEqual(payload?.userErrors ?? [], [], name);
  return data;
};

test('an empty home and an empty stream show a hint', async () => {
  await page.goto(`${server.origin}/home`);
  await page.getByText('Log in above to see your home. No account yet?').waitFor();
  await page.getByRole('link', { name: 'Live' }).click();
  await page.getByText('Log in above to write the first post.').waitFor();
});

test('signing up logs in', async () => {
  await playground.load();
  assert.equal((await data('SignUp')).signUp.session.user.login, 'newcomer');
  await playground.status.filter({ hasText: '(newcomer)' }).waitFor();
  assert.equal((await data('Viewer')).viewer.login, 'newcomer');
});

test('a post is in the public stream', async () => {
  const { message } = (await data('PostStatus')).postStatus.status;
  assert.equal((await firstEvent('PublicStream')).status.message, message);
});

test('the post is liked and commented on, and its thread shows it', async () => {
  assert.equal((await data('LikeStatus')).likeStatus.status.likeCount, 1);
  const { message } = (await data('AddComment')).addComment.comment;
  const { node } = await data('Thread');
  assert.deepEqual([node.commentCount, node.commentThread.tree.edges[0].node.message], [1, message]);
});

test('the home has the post, and its events have it', async () => {
  const [{ node }] = (await data('Home')).homeTimeline.entries.edges;
  assert.equal(node.status.likeCount, 1);
  assert.equal((await firstEvent('HomeEvents')).status.message, node.status.message);
});

test('the post is edited, reposted, quoted and replied to, and the conversation shows it', async () => {
  const { status: edited } = (await data('EditStatus')).editStatus;
  assert.deepEqual(edited.edits.edges.map(({ node }) => node.message === edited.message), [false, true]);
  const { status: reposted } = (await data('RepostStatus')).repostStatus;
  const [{ node: profile }] = reposted.reposters.edges;
  assert.deepEqual(profile.profileTimeline.entries.edges[0].node, { repostedBy: { login: 'newcomer' }, status: { message: edited.message } });
  const { status: quote } = (await data('Quote')).postStatus;
  assert.deepEqual([quote.quotedStatus.message, quote.quotedStatus.quoteCount], [edited.message, 1]);
  const { status: reply } = (await data('Reply')).postStatus;
  assert.deepEqual([reply.conversationId, reply.replyTo], [quote.id, { depth: 0, status: { message: quote.message } }]);
  const { node } = await data('Conversation');
  assert.deepEqual([node.message, node.ancestors.edges.map(({ node: { depth, status } }) => [depth, status.message])], [reply.message, [[0, quote.message]]]);
});

test('the reply has entities and a reply policy, is bookmarked and pinned', async () => {
  assert.equal((await data('ReplyPolicy')).setReplyPolicy.status.replyPolicy, 'FOLLOWED');
  const { node } = await data('Entities');
  assert.deepEqual(node.entities, { mentions: [], tags: [{ range: { start: 9, end: 17 }, tag: { name: 'waxwing' } }], links: [] });
  assert.equal((await data('Bookmark')).bookmarkStatus.status.viewerHasBookmarked, true);
  const [bookmarked] = (await data('Bookmarks')).viewerBookmarks.edges;
  const [pinned] = (await data('Pin')).pinStatus.user.pinnedStatuses;
  assert.deepEqual([bookmarked.node.message, pinned.message], [node.message, node.message]);
});

test('a tag is followed, and nobody has mentioned the newcomer', async () => {
  assert.equal((await data('Tag')).tag.viewerIsFollowing, false);
  assert.equal((await data('FollowTag')).followTag.tag.viewerIsFollowing, true);
  assert.equal((await data('Tag')).tag.viewerIsFollowing, true);
  assert.deepEqual((await data('Mentions')).viewerMentions.entries.edges, []);
});

test('a post for followers, the relation to oneself, and no requests', async () => {
  const { status } = (await data('PostTo')).postStatus;
  assert.deepEqual([status.audience, status.audienceList], ['FOLLOWERS', null]);
  await playground.select('Relation');
  await playground.writeTool('Variables', '{ "login": "newcomer" }');
  const { user } = await data('Relation');
  assert.deepEqual([user.login, user.viewerFollowState, user.viewerFriendship], ['newcomer', 'NONE', 'NONE']);
  const { viewerFollowRequests, viewerFriendRequests } = await data('Requests');
  assert.deepEqual([viewerFollowRequests.totalCount, viewerFriendRequests.totalCount], [0, 0]);
  // The id comes from the response of Relation: one cannot block oneself.
  const [error] = (await playground.run('Block')).data.blockUser.userErrors;
  assert.deepEqual(error.path, ['userId']);
  assert.equal(JSON.parse(await playground.shownVariables()).input.userId, user.id);
});

test('a group has a message with a reaction, its events have both, and the chats show it', async () => {
  const signUp = 'mutation { signUp(input: { login: "second", name: "Second", password: "correct horse" }) { session { token } } }';
  await server.ask(null, signUp);
  await playground.select('Relation');
  await playground.writeTool('Variables', '{ "login": "second" }');
  await data('Relation');
  // The id comes from the response of Relation: nobody is in a group alone.
  const { chat } = (await data('CreateGroup')).createGroupChat;
  assert.deepEqual([chat.name, chat.membersCount, chat.viewerMember.role], ['Bird watchers', 2, 'OWNER']);
  const [{ node: listed }] = (await data('Chats')).viewerChats.edges;
  assert.deepEqual([listed.id, listed.newestMessage], [chat.id, null]);
  const { text } = (await data('SendMessage')).sendMessage.chatMessage;
  const [{ node: row }] = (await data('Messages')).node.messages.edges;
  assert.deepEqual([row.sequence, row.text, row.reactions], [1, text, []]);
  const { reactions } = (await data('ReactToMessage')).reactToMessage.chatMessage;
  assert.deepEqual(reactions, [{ emoji: '👍', count: 1, viewerHasReacted: true }]);
  const edited = (await data('EditMessage')).editMessage.chatMessage;
  assert.equal((await data('MarkSeen')).markChatSeen.chat.viewerMember.seenSequence, 1);
  assert.deepEqual((await data('PendingMessages')).pendingMessages.edges, []);
  assert.notEqual(edited.text, text);
  // The pane shows the latest of several events.
  const { __typename: type, chatId } = await firstEvent('ChatEvents', 'chatId');
  assert.equal(chatId, chat.id, type);
  assert.equal((await data('MuteChat')).muteChat.chat.viewerHasMuted, true);
  assert.deepEqual((await data('ChatRequests')).viewerChatRequests.edges, []);
  await playground.select('AddMembers');
  assert.equal(JSON.parse(await playground.shownVariables()).input.chatId, chat.id);
  assert.equal((await data('StartChat')).startDirectChat.chat.viewerPeer.login, 'second');
});

test('a campaign with an ad is served to a website', async () => {
  assert.equal((await data('CreateCampaign')).createCampaign.campaign.state, 'ACTIVE');
  const { snippet } = (await data('CreateAd')).createAd.ad;
  await data('RegisterWebsite');
  const [{ ad }] = (await data('ServeAds')).serveAds.impressions;
  assert.equal(ad.snippet, snippet);
});

test('the login and the password are changed', async () => {
  const { viewerAccount, viewerSessions } = await data('Account');
  assert.deepEqual([viewerAccount.user.login, viewerSessions.map((session) => session.authenticationMethod)], ['newcomer', ['PASSWORD']]);
  assert.equal((await data('ChangeLogin')).changeLogin.user.login, 'old_hand');
  assert.deepEqual((await data('ChangePassword')).changePassword.endedSessionIds, []);
  assert.equal((await data('Account')).viewerAccount.user.login, 'old_hand');
});

test('the other routes show the results', async () => {
  await page.getByRole('link', { name: 'Home' }).click();
  const withText = page.getByRole('list', { name: 'Timeline' }).getByRole('article').filter({ hasText: 'Hello again, #waxwing!' });
  // Its quote shows the text, too.
  const card = withText.filter({ hasNotText: 'Look at this.' });
  await card.getByRole('button', { name: 'Like: 1 like' }).waitFor();
  await card.getByRole('button', { name: 'Like: 1 like' }).click();
  await card.getByRole('button', { name: 'Like: 0 likes' }).waitFor();
  await card.getByRole('button', { name: '1 comment' }).click();
  await page.getByRole('list', { name: 'Comments' }).getByText('A first comment.').waitFor();
  // Independent of the focus.
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: /^Comments/ }).waitFor({ state: 'detached' });
});
