// The attacked server, in its production profile with the default limits, and its data: 10,001 users, one of whom follows all others, and
// 30,003 statuses.
import { readFileSync, writeFileSync } from 'node:fs';
import { Bed, binary, isCalm, resident } from '../support.mjs';
import { post } from './http.mjs';

const PEOPLE = 10_001;

function writeFollows(file) {
  const lines = Array.from({ length: PEOPLE - 1 }, (_, at) => `0 ${at + 1}`);
  for (let at = 1; at < PEOPLE; at += 1) for (const step of [1, 7, 77, 777]) lines.push(`${at} ${(at + step) % PEOPLE}`);
  writeFileSync(file, lines.filter((line) => new Set(line.split(' ')).size === 2).join('\n'));
}

// Graphemes with as many bytes as the limit allows: the first one that the server accepts is used.
const LETTERS = [`e${'\u0301'.repeat(19)}`, '\u{1f1e9}\u{1f1ea}', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}', 'e\u0301\u0301\u0301', '\u{1f985}', 'x'];

// Adds statuses of the maximum length.
async function addStatuses(port, token) {
  const query = 'mutation($m: String!) { postStatus(input: { message: $m }) { status { id } userErrors { message } } }';
  let posted = 0;
  for (const letter of LETTERS) {
    while (posted < 50) {
      const { body } = await post({ port, token, from: '127.0.2.1' }, { query, variables: { m: letter.repeat(500) } });
      if (!body.data?.postStatus.status) break;
      posted += 1;
    }
  }
}

// Adds a website that requests ads, and campaigns of 250 keywords each.
async function addAds(port, token) {
  const send = async (query, variables) => (await post({ port, token, from: '127.0.2.1' }, { query, variables })).body.data;
  const keywords = Array.from({ length: 250 }, (_, at) => `keyword ${at} ${'x'.repeat(35)}`);
  const registered = await send('mutation($i: RegisterWebsiteInput!) { registerWebsite(input: $i) { website { key } } }', { i: { name: 'News', origin: 'https://news.example' } });
  const campaigns = [];
  for (let at = 0; at < 20; at += 1) {
    const made = await send('mutation($i: CreateCampaignInput!) { createCampaign(input: $i) { campaign { id } userErrors { message } } }', { i: { name: `Campaign ${at}`, budget: '1000', keywords } });
    const id = made.createCampaign.campaign.id;
    const ad = { campaignId: id, slot: 'BANNER', snippet: 'Buy', targetUrl: 'https://shop.example', pricing: 'CPC', bid: '0.5' };
    await send('mutation($i: CreateAdInput!) { createAd(input: $i) { ad { id } userErrors { message } } }', { i: ad });
    campaigns.push(id);
  }
  return { website: registered.registerWebsite.website.key, campaigns, keywords };
}

export async function startServer() {
  const bed = new Bed();
  try {
    return await serve(bed);
  } catch (error) {
    await bed.stop();
    throw error;
  }
}

async function serve(bed) {
  const [data, tokens, follows] = ['data', 'tokens', 'follows'].map((name) => bed.path(name));
  writeFollows(follows);
  bed.run(binary, ['demo', '--data-dir', data, '--follows', follows, '--statuses-per-user', 3, '--tokens', tokens]);
  const options = ['--data-dir', data, '--profile', 'production', '--log-filter', 'error', '--max-connections', '400'];
  const { child, port } = await bed.server(options);
  const people = readFileSync(tokens, 'utf8').trim().split('\n').map((line) => line.split(' '));
  const heavy = people[0][1];
  const keys = await addAds(port, heavy);
  await addStatuses(port, people[2][1]);
  // Returns the number of charged clicks.
  const clicks = async () => {
    const query = '{ viewerCampaigns(first: 100) { edges { node { ads(first: 1) { edges { node { clickCount } } } } } } }';
    const { body } = await post({ port, token: heavy, from: '127.0.2.1' }, { query });
    return body.data.viewerCampaigns.edges.flatMap(({ node }) => node.ads.edges).reduce((sum, { node }) => sum + node.clickCount, 0);
  };
  return {
    port,
    heavy,
    keys,
    logins: people.map(([login]) => login),
    tokens: people.slice(100, 120).map(([, token]) => token),
    rss: () => resident(child),
    // Waits until the server has finished earlier work. The embedded Redis is not checked.
    isCalm: () => isCalm([child], 30),
    clicks,
    stop: () => bed.stop(),
  };
}
