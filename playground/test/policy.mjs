// Compares the explanations of the page of two people with the responses of the server, for every audience and relation.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Server } from './server.mjs';
import { load } from './source.mjs';

const AUDIENCES = ['PUBLIC', 'FOLLOWERS', 'FRIENDS', 'LIST'];
// The relation of bram to ada, and the mutations that create it: each by one of the two, about the other.
const RELATIONS = {
  stranger: [],
  follower: [['bram', 'followUser'], ['ada', 'acceptFollowRequest']],
  friend: [['bram', 'requestFriend'], ['ada', 'acceptFriendRequest']],
  // Stays a friend.
  'friend without a follow': [['bram', 'requestFriend'], ['ada', 'acceptFriendRequest'], ['bram', 'unfollowUser']],
  'blocked by the author': [['ada', 'blockUser']],
  'blocking the author': [['bram', 'blockUser']],
};
const SEEN = 'query ($id: ID!) { node(id: $id) { id } }';

let server, tokens, ids, explain;

before(async () => {
  ({ explain } = await load('routes/people/policy.ts'));
  server = await Server.start({ options: ['--rate-limits', 'off'] });
  tokens = { ada: await server.logIn('ada'), bram: await server.logIn('bram') };
  const { ada, bram } = await server.ask(null, '{ ada: user(login: "ada") { id } bram: user(login: "bram") { id } }');
  ids = { ada: ada.id, bram: bram.id };
});

after(() => server?.remove());

async function send(login, field, input) {
  const type = `${field[0].toUpperCase()}${field.slice(1)}Input`;
  const selection = { createUserList: 'userList { id }', postStatus: 'status { id }' }[field] ?? '';
  const query = `mutation ($input: ${type}!) { result: ${field}(input: $input) { ${selection} userErrors { message } } }`;
  return (await server.ask(tokens[login], query, { input })).result;
}

async function change(login, field, input) {
  const result = await send(login, field, input);
  assert.deepEqual(result.userErrors, [], field);
  return result;
}

const input = (login) => ({ userId: ids[login === 'ada' ? 'bram' : 'ada'] });
const about = (login, field) => change(login, field, input(login));

// Ends every relation: an account does not find the one that blocks it, and a new block removes the rest.
async function separate() {
  for (const login of ['ada', 'bram']) await send(login, 'unblockUser', input(login));
  for (const field of ['unblockUser', 'blockUser', 'unblockUser']) await about('ada', field);
}
const sees = async (token, id) => (await server.ask(token, SEEN, { id })).node !== null;

// Relations as the server tells them: an account that blocks the reader is null.
async function relationOf(isMember) {
  const query = (login) => `{ user(login: "${login}") { viewerIsFollowing viewerFriendship viewerIsBlocking } }`;
  const [{ user: ada }, { user: bram }] = [await server.ask(tokens.bram, query('ada')), await server.ask(tokens.ada, query('bram'))];
  return {
    isBlocked: !ada || !bram || ada.viewerIsBlocking || bram.viewerIsBlocking,
    isFollower: ada?.viewerIsFollowing ?? false,
    isFriend: ada?.viewerFriendship === 'FRIENDS',
    isMember,
  };
}

for (const [name, steps] of Object.entries(RELATIONS)) {
  test(`${name}: every explanation agrees with the server`, async () => {
    await separate();
    const list = (await change('ada', 'createUserList', { name })).userList.id;
    await change('ada', 'updateProfile', { isPrivate: true });
    for (const [login, field] of steps) await about(login, field);
    const isBlocked = name.startsWith('block');
    const statuses = {};
    for (const audience of AUDIENCES) {
      const input = { message: `${name} ${audience}`, audience, ...(audience === 'LIST' && { audienceListId: list }) };
      statuses[audience] = (await change('ada', 'postStatus', input)).status.id;
    }
    const found = [];
    for (const isPrivate of [true, false]) {
      await change('ada', 'updateProfile', { isPrivate });
      // Nobody adds an account to a list beside a block.
      for (const isMember of isBlocked ? [false] : [false, true]) {
        if (!isBlocked) await change('ada', isMember ? 'addUserToList' : 'removeUserFromList', { listId: list, userId: ids.bram });
        const relation = await relationOf(isMember);
        for (const [audience, id] of Object.entries(statuses)) {
          const facts = { audience, isPrivate };
          for (const [viewer, token] of [['author', tokens.ada], ['logged out', null], [relation, tokens.bram]]) {
            const { sees: expected, reason } = explain(facts, viewer);
            assert.equal(await sees(token, id), expected, JSON.stringify({ facts, viewer, reason }));
            found.push(`${expected} ${reason}`);
          }
        }
      }
    }
    // Both responses were compared, so neither side is a constant.
    assert.ok(found.some((it) => it.startsWith('true')) && found.some((it) => it.startsWith('false')));
    if (isBlocked) assert.ok(found.includes('false blocked'));
  });
}

test('the members of a deleted list see its statuses no more, nor does the explanation say so', async () => {
  await separate();
  const list = (await change('ada', 'createUserList', { name: 'gone' })).userList.id;
  await change('ada', 'addUserToList', { listId: list, userId: ids.bram });
  const { id } = (await change('ada', 'postStatus', { message: 'to the list', audience: 'LIST', audienceListId: list })).status;
  assert.equal(await sees(tokens.bram, id), true);
  await change('ada', 'deleteUserList', { listId: list });
  assert.equal(await sees(tokens.bram, id), false);
  const viewer = { isBlocked: false, isFollower: true, isFriend: true, isMember: null };
  assert.deepEqual(explain({ audience: 'LIST', isPrivate: false }, viewer), { sees: false, reason: 'LIST: the list was deleted' });
});

test('each explanation names the rule that decides', () => {
  const nobody = { isBlocked: false, isFollower: false, isFriend: false, isMember: false };
  const texts = (audience, isPrivate, viewer) => {
    const { sees, reason } = explain({ audience, isPrivate }, viewer);
    return `${sees ? 'sees' : 'does not see'}: ${reason}`;
  };
  for (const [audience, isPrivate, viewer, expected] of [
    ['FRIENDS', true, 'author', 'sees: author'],
    ['PUBLIC', false, 'logged out', 'sees: public'],
    ['PUBLIC', false, nobody, 'sees: public'],
    ['PUBLIC', false, { ...nobody, isBlocked: true }, 'does not see: blocked'],
    ['PUBLIC', true, 'logged out', 'does not see: private account: logged out'],
    ['PUBLIC', true, nobody, 'does not see: private account: not a follower'],
    ['PUBLIC', true, { ...nobody, isFollower: true }, 'sees: private account: is a follower'],
    ['PUBLIC', true, { ...nobody, isFriend: true }, 'sees: private account: is a friend'],
    ['FOLLOWERS', false, nobody, 'does not see: FOLLOWERS: not a follower'],
    ['FOLLOWERS', false, { ...nobody, isFriend: true }, 'sees: FOLLOWERS: is a friend'],
    ['FRIENDS', false, { ...nobody, isFollower: true }, 'does not see: FRIENDS: not a friend'],
    ['FRIENDS', false, { ...nobody, isFriend: true }, 'sees: FRIENDS: is a friend'],
    ['LIST', false, { ...nobody, isFollower: true, isFriend: true }, 'does not see: LIST: not a member'],
    ['LIST', true, { ...nobody, isMember: true }, 'sees: LIST: member'],
    ['LIST', false, { ...nobody, isMember: true, isBlocked: true }, 'does not see: blocked'],
  ]) {
    assert.equal(texts(audience, isPrivate, viewer), expected);
  }
});
