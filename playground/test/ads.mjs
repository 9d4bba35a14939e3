// Tests the page of the ad network in Chromium: the advertiser's side, the publisher's side, and the errors of both.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { AdsPage } from './adspage.mjs';
import { open } from './browser.mjs';
import { Server } from './server.mjs';

const OTHERS = '{ viewer { following(first: 1) { edges { node { login } } } } }';
const POST = 'mutation ($input: PostStatusInput!) { postStatus(input: $input) { status { id } } }';
const CREATE = 'mutation ($input: CreateCampaignInput!) { createCampaign(input: $input) { campaign { id } userErrors { message } } }';
const ADD = 'mutation ($input: CreateAdInput!) { createAd(input: $input) { ad { id } userErrors { message } } }';
const PAUSE = 'mutation ($input: CampaignInput!) { pauseCampaign(input: $input) { campaign { id } userErrors { message } } }';
const REGISTER = 'mutation ($input: RegisterWebsiteInput!) { registerWebsite(input: $input) { website { key } userErrors { message } } }';
const END_OTHERS = 'mutation { endSessions(input: { allOthers: true }) { endedSessionIds userErrors { message } } }';

let server, ada, friend, key;
let browser, page, pageErrors, ads;

before(async () => {
  server = await Server.start({ options: ['--rate-limits', 'off'] });
  ada = await server.logIn();
  friend = await server.logIn((await server.ask(ada, OTHERS)).viewer.following.edges[0].node.login);
  key = (await change(friend, REGISTER, { name: 'Birds', origin: 'https://birds.example' })).website.key;
});

after(() => server?.remove());

beforeEach(() => begin());

// The only errors in the console are those of responses that a test aborts, and of an ended session.
afterEach(async () => {
  await browser.close();
  assert.deepEqual(pageErrors.filter((text) => !/ERR_FAILED|status of 401/.test(text)), []);
});

async function begin(options) {
  ({ browser, page, pageErrors } = await open(server.origin, options));
  ads = new AdsPage(page, server);
}

async function change(token, query, input) {
  const [result] = Object.values(await server.ask(token, query, { input }));
  assert.deepEqual(result.userErrors ?? [], []);
  return result;
}

// Creates a campaign of Ada with a banner and a keyword of its own. Returns the id.
async function campaign(keyword, { token = ada, ad = {}, ...more } = {}) {
  const made = { name: `For ${keyword}`, budget: '10', pacing: 'ASAP', keywords: [keyword], ...more };
  const { id } = (await change(token, CREATE, made)).campaign;
  const shown = { slot: 'BANNER', snippet: `Buy ${keyword}`, targetUrl: `${server.origin}/healthz`, pricing: 'CPM', bid: '2.25', ...ad };
  await change(token, ADD, { campaignId: id, ...shown });
  return id;
}

const noBids = { Name: 'Spring', Budget: '0' };

test('without a session one may try a slot, and is asked to log in for the rest', async () => {
  await ads.load();
  assert.equal(await page.title(), 'Waxwing ads');
  assert.equal(await page.getByRole('link', { name: 'Ads' }).getAttribute('aria-current'), 'page');
  await page.getByText('Log in to see your campaigns.').first().waitFor();
  assert.ok(await page.getByRole('link', { name: 'New campaign' }).isHidden());
  await ads.side('Publisher');
  assert.ok(await ads.form('Register a website').isHidden());
  await campaign('outsider');
  assert.equal(await ads.ask({ 'Website key': key, 'Keywords of the page': 'outsider' }), '1 ad was served.');
});

test('a campaign is created, and its errors are shown beside the fields', async () => {
  await ads.load();
  await ads.logIn();
  await page.getByRole('link', { name: 'New campaign' }).click();
  const form = ads.form('Create campaign');
  await ads.send(form, { ...noBids, 'Frequency cap: impressions': '3', 'per visitor, in': '400', 'Unit of time': 'days' }, 'Create campaign');
  assert.match(await ads.fieldError(form, 'Budget'), /budget/i);
  assert.match(await ads.fieldError(form, 'per visitor, in'), /./);
  assert.equal(await ads.field(form, 'Budget').evaluate((field) => document.activeElement === field), true);
  await ads.send(form, { Budget: '1000.5', 'Daily budget': '40', 'per visitor, in': '2', Keywords: 'red kite\nwaxwing' }, 'Create campaign');
  await ads.stands('Active');
  await ads.campaign.getByText('It has no ads yet: create the first one below.').waitFor();
  assert.equal(await ads.title.innerText(), 'Spring');
  const facts = ['Budget', 'Spent', 'Remaining', 'Daily budget', 'Remaining today', 'Frequency cap', 'Ends'];
  const said = await Promise.all(facts.map((name) => ads.fact(name)));
  assert.deepEqual(said, ['1,000.50', '0.00', '1,000.50', '40.00', '40.00', '3 per visitor in 2 days', 'with its budget']);
  assert.deepEqual(await ads.keywords.getByRole('listitem').locator('span').allInnerTexts(), ['red kite', 'waxwing']);
  const row = ads.campaigns.getByRole('listitem').first();
  await row.getByText('0.00 of 1,000.50').waitFor();
  assert.equal(await row.getByRole('link', { name: 'Spring' }).getAttribute('aria-current'), 'page');
});

test('only changed fields are sent, an empty field removes a value, and a reload keeps the campaign open', async () => {
  const id = await campaign('changing', { dailyBudget: '5', frequencyCap: { impressions: 2, perSeconds: 3_600 } });
  await ads.load();
  await ads.logIn();
  await ads.open(id);
  await ads.button('Change').click();
  await page.keyboard.press('Escape');
  await ads.form('Save').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Change');
  await ads.button('Change').click();
  const form = ads.form('Save');
  assert.equal(await ads.field(form, 'per visitor, in').inputValue(), '1');
  const sent = page.waitForRequest((request) => request.postDataJSON()?.operationName === 'AdsUpdateCampaign');
  await ads.send(form, { Budget: '20', 'Daily budget': '', Ends: '2099-01-02T03:04' }, 'Save');
  const endsAt = await page.evaluate(() => new Date('2099-01-02T03:04').toISOString());
  assert.deepEqual((await sent).postDataJSON().variables.input, { campaignId: id, budget: '20', dailyBudget: null, endsAt });
  await ads.campaign.getByText('20.00').first().waitFor();
  assert.deepEqual(await Promise.all(['Budget', 'Daily budget', 'Frequency cap'].map((name) => ads.fact(name))), ['20.00', 'no limit', '2 per visitor in 1 hour']);
  await page.reload();
  await ads.stands('Active');
  assert.equal(await ads.title.innerText(), 'For changing');
  assert.match(await ads.fact('Ends'), /2099/);
});

test('a campaign is paused, resumed and, after a confirmation, stopped; a stopped one has no actions', async () => {
  await ads.load();
  await ads.logIn();
  await ads.open(await campaign('stopping'));
  await ads.button('Pause').click();
  await ads.stands('Paused');
  await ads.campaigns.getByRole('listitem').first().getByText('Paused', { exact: true }).waitFor();
  await ads.button('Resume').click();
  await ads.stands('Active');
  await ads.button('Stop').click();
  await ads.stands('Active');
  await ads.button('Stop it for good?').click();
  await ads.stands('Stopped');
  for (const name of ['Pause', 'Resume', 'Stop']) assert.ok(await ads.button(name).isHidden(), name);
});

test('keywords are added and removed', async () => {
  await ads.load();
  await ads.logIn();
  const id = await campaign('first');
  await ads.open(id);
  const form = ads.form('Add keywords');
  await ads.send(form, { 'Keywords to add': 'second word\nthird' }, 'Add keywords');
  await ads.button('Remove second word').waitFor();
  await ads.button('Remove first').click();
  await ads.button('Remove first').waitFor({ state: 'detached' });
  assert.deepEqual((await ads.keywords.getByRole('listitem').locator('span').allInnerTexts()).toSorted(), ['second word', 'third']);
  await ads.send(form, { 'Keywords to add': 'x'.repeat(81) }, 'Add keywords');
  assert.match(await ads.fieldError(form, 'Keywords to add'), /80/);
  for (const word of ['second word', 'third']) {
    await ads.button(`Remove ${word}`).click();
    await ads.button(`Remove ${word}`).waitFor({ state: 'detached' });
  }
  await page.getByText('None: the campaign fits every page.').waitFor();
  // Everywhere is where the other tests look.
  await change(ada, PAUSE, { campaignId: id });
});

test('ads are added, of text and of one’s own statuses, and removed', async () => {
  const { status } = await change(ada, POST, { message: 'Worth promoting' });
  await ads.load();
  await ads.logIn();
  await ads.open(await campaign('adding'));
  const form = ads.form('Create an ad');
  const banner = { Text: '<b>Bold</b>\nsecond line', 'Destination URL': 'https://example.com/offer', Pricing: 'CPC: per click', Bid: '0' };
  await ads.send(form, banner, 'Create ad');
  assert.match(await ads.fieldError(form, 'Bid'), /./);
  await ads.send(form, { Bid: '0.4' }, 'Create ad');
  const added = ads.ads.filter({ hasText: 'Bold' });
  await added.waitFor();
  assert.equal(await added.locator('.message').innerText(), '<b>Bold</b>\nsecond line');
  assert.equal(await added.locator('.price').innerText(), '0.40 per click');
  await ads.field(form, 'Slot').selectOption('IN_FEED');
  await ads.field(form, 'A status of yours').selectOption(status.id);
  await ads.send(form, { Pricing: 'CPM: per thousand impressions', Bid: '1.000001' }, 'Create ad');
  const promoted = ads.ads.filter({ hasText: 'Worth promoting' });
  await promoted.waitFor();
  assert.deepEqual([await promoted.locator('.slot').innerText(), await ads.fact('eCPM', promoted)], ['In the feed', '1.000001']);
  await ads.button('Remove', added).click();
  await ads.button('Remove it for good?', added).click();
  await added.waitFor({ state: 'detached' });
  assert.equal(await ads.ads.count(), 2);
});

test('a publisher registers a website, serves, clicks and reaches the cap; the advertiser sees the figures', async () => {
  const id = await campaign('owl', { frequencyCap: { impressions: 2, perSeconds: 3_600 } });
  await ads.load();
  await ads.logIn();
  await ads.side('Publisher');
  const form = ads.form('Register a website');
  await ads.send(form, { Name: 'Owls', Origin: 'ftp://owls.example' }, 'Register');
  assert.match(await ads.fieldError(form, 'Origin'), /./);
  await ads.send(form, { Origin: 'https://owls.example' }, 'Register');
  const website = ads.websites.getByRole('listitem').filter({ hasText: 'Owls' });
  await website.waitFor();
  const shownKey = await website.getByLabel('Key').inputValue();
  assert.equal(await ads.try.getByLabel('Website key').inputValue(), shownKey);
  assert.ok(shownKey.length >= 16);

  const words = { 'Keywords of the page': 'Owl', Visitor: 'one' };
  assert.equal(await ads.ask(words), '1 ad was served.');
  assert.equal(await ads.served.locator('.message').innerText(), 'Buy owl');
  await ads.button('Click', ads.served).click();
  await ads.served.getByText(`Counted. Destination: ${server.origin}/healthz`).waitFor();
  await ads.button('Click', ads.served).click();
  await ads.served.getByText(/^Not counted/).waitFor();
  assert.equal(await ads.ask(), '1 ad was served.');
  const link = await ads.served.getByRole('link', { name: 'Follow its link' }).evaluate(({ href }) => href);
  const followed = await fetch(link, { redirect: 'manual' });
  assert.deepEqual([followed.status, followed.headers.get('location')], [302, `${server.origin}/healthz`]);
  assert.equal(await ads.ask(), 'No eligible ad.');
  assert.equal(await ads.served.count(), 0);
  await ads.button('Another visitor').click();
  assert.equal(await ads.ask(), '1 ad was served.');

  await ads.open(id);
  const totals = ads.figures.locator('.totals');
  const figures = ['Spend', 'Impressions', 'Clicks', 'Invalid clicks', 'CTR', 'Reach'];
  assert.deepEqual(await Promise.all(figures.map((name) => ads.fact(name, totals))), ['0.00675', '3', '2', '1', '66.67%', '2']);
  assert.deepEqual([await ads.fact('Spent'), await ads.fact('Spent today'), await ads.fact('Remaining')], ['0.00675', '0.00675', '9.99325']);
  assert.deepEqual((await ads.table())[0].slice(1), ['0.00675', '3', '2', '1', '66.67%', '2']);
  assert.deepEqual([await ads.fact('Impressions', ads.ads), await ads.fact('Clicks', ads.ads)], ['3', '2']);
});

test('reserved money is shown apart from spent money', async () => {
  const id = await campaign('waiting', { dailyBudget: '5', ad: { pricing: 'CPC', bid: '0.4' } });
  await ads.load('#side=publisher');
  await ads.logIn();
  assert.equal(await ads.ask({ 'Website key': key, 'Keywords of the page': 'waiting' }), '1 ad was served.');
  await ads.open(id);
  const names = ['Spent', 'Remaining', 'Spent today', 'Reserved for clicks', 'Remaining today'];
  assert.deepEqual(await Promise.all(names.map((name) => ads.fact(name))), ['0.00', '9.60', '0.00', '0.40', '4.60']);
  await ads.side('Publisher');
  await ads.button('Click', ads.served).click();
  await ads.served.getByText(/^Counted/).waitFor();
  await ads.open(id);
  assert.deepEqual([await ads.fact('Spent'), await ads.fact('Spent today'), await ads.fact('Remaining today')], ['0.40', '0.40', '4.60']);
  assert.equal(await ads.campaign.getByText('Reserved for clicks').count(), 0);
});

test('money is shown with up to nine decimals', async () => {
  const id = await campaign('thousandth', { budget: '9000000', ad: { bid: '0.000001' } });
  await ads.load('#side=publisher');
  await ads.logIn();
  assert.equal(await ads.ask({ 'Website key': key, 'Keywords of the page': 'thousandth' }), '1 ad was served.');
  await ads.open(id);
  assert.deepEqual([await ads.fact('Spent'), await ads.fact('Remaining')], ['0.000000001', '8,999,999.999999999']);
});

test('the error of a request for ads is shown beside the field', async () => {
  await ads.load('#side=publisher');
  await ads.send(ads.try, { 'Website key': 'nobody’s' }, 'Request ads');
  assert.match(await ads.fieldError(ads.try, 'Website key'), /./);
  await ads.send(ads.try, { 'Website key': key, Count: '11' }, 'Request ads');
  assert.equal(await ads.field(ads.try, 'Count').evaluate(({ validity }) => validity.rangeOverflow), true);
  assert.equal(await ads.asked.count(), 0);
});

test('a campaign is explained: why it is served, or why not', async () => {
  const id = await campaign('why', { budget: '8000000', ad: { bid: '5000000' } });
  await ads.load();
  await ads.logIn();
  await ads.open(id);
  await ads.send(ads.why, { 'Keywords of the page': 'WHY', Visitor: 'one' }, 'Explain');
  await ads.answer.getByText('Yes, it is eligible. It ranks first. Its eCPM is 5,000,000.00.').waitFor();
  await ads.send(ads.why, { Slot: 'Square', 'Keywords of the page': 'other' }, 'Explain');
  await ads.answer.getByText('No, it would not be chosen.').waitFor();
  const reasons = ['The page has none of the campaign’s keywords.', 'It has no ad for this slot.'];
  assert.deepEqual(await ads.answer.getByRole('listitem').allInnerTexts(), reasons);
  await ads.button('Pause').click();
  await ads.stands('Paused');
  await ads.send(ads.why, { Slot: 'Banner', 'Keywords of the page': 'why' }, 'Explain');
  await ads.answer.getByText('It is paused.', { exact: true }).waitFor();
});

// The server's response, with invented days of the past.
async function withDays(days) {
  await page.route('**/graphql', async (route) => {
    if (route.request().postDataJSON().operationName !== 'AdsCampaign') return route.fallback();
    const response = await route.fetch();
    const result = await response.json();
    const [today] = result.data.node.report.days.slice(-1);
    const at = (back) => new Date(Date.parse(today.date) - back * 86_400_000).toISOString().slice(0, 10);
    result.data.node.report.days = days.map((day, index) => ({ ...today, ...day, date: at(days.length - 1 - index) }));
    return route.fulfill({ response, json: result });
  });
}

test('the plots begin at zero, omit missing values, and mark the incomplete day', async () => {
  await ads.load();
  await ads.logIn();
  await withDays([
    { impressions: 200, clicks: 2, spend: '4' },
    { impressions: 0, clicks: 0, spend: '0' },
    { impressions: 100, clicks: 3, spend: '2.000000001' },
    { impressions: 50, clicks: 1, spend: '1' },
  ]);
  await ads.open(await campaign('plots'));
  const spend = ads.plot('Daily spend');
  const bars = await spend.locator('.bars rect').evaluateAll((all) => all.map((bar) => [Number(bar.getAttribute('height')), bar.getAttribute('class')]));
  const [[first]] = bars;
  assert.deepEqual(bars.map(([height, name]) => [Number((height / first).toFixed(6)), name]), [[1, null], [0, null], [0.5, null], [0.25, 'today']]);
  assert.deepEqual(await spend.locator('.axis text').allTextContents().then((texts) => texts.slice(0, 5)), ['0', '1', '2', '3', '4']);
  const zero = Number(await spend.locator('.axis .zero').getAttribute('y1'));
  const feet = await spend.locator('.bars rect').evaluateAll((all) => all.map((bar) => Number(bar.getAttribute('y')) + Number(bar.getAttribute('height'))));
  for (const foot of feet) assert.ok(Math.abs(foot - zero) < 0.01);
  const ctr = ads.plot('CTR: clicks per impression');
  assert.equal(await ctr.locator('polyline').count(), 2, 'a hole where nothing was shown');
  assert.equal(await ctr.locator('circle').count(), 3);
  assert.equal(await ctr.locator('.axis text').first().textContent(), '0%');
  assert.match(await spend.locator('.hovers title').nth(2).textContent(), /: 2\.000000001$/);
  assert.match(await spend.locator('desc').textContent(), /^4 days to .*: at most 4\.00, on .*\.$/);
  const rows = (await ads.table()).map((cells) => [cells[1], cells[2], cells[5]]);
  assert.deepEqual(rows, [['1.00', '50', '2.00%'], ['2.000000001', '100', '3.00%'], ['0.00', '0', '–'], ['4.00', '200', '1.00%']]);
});

test('the error of a read is shown, and the last result stays', async () => {
  await ads.load();
  await ads.logIn();
  const id = await campaign('telling');
  await ads.open(id);
  await page.route('**/graphql', (route) => route.abort());
  await ads.button('Refresh').click();
  await ads.alert.getByText('The server could not be reached.').waitFor();
  assert.equal(await ads.title.innerText(), 'For telling');
  await ads.button('Pause').click();
  await ads.stands('Active');
  await page.unroute('**/graphql');
  await ads.button('Refresh').click();
  await ads.alert.getByText('The server').waitFor({ state: 'hidden' });
});

test('a campaign of another account does not exist', async () => {
  const id = await campaign('foreign', { token: friend });
  await ads.load();
  await ads.logIn();
  await ads.load(`#${new URLSearchParams({ campaign: id })}`);
  await ads.alert.getByText('There is no such campaign, or it is not yours.').waitFor();
  assert.ok(await ads.button('Change').isHidden());
});

test('when the session ends, its campaigns disappear', async () => {
  await ads.load();
  await ads.logIn();
  await ads.open(await campaign('ending'));
  ada = await server.logIn();
  await server.ask(ada, END_OTHERS);
  await ads.button('Refresh').click();
  await ads.session.getByRole('alert').getByText('The session has ended. Log in again.').waitFor();
  assert.ok(await ads.title.isHidden());
  assert.equal(await ads.campaigns.getByRole('listitem').count(), 0);
});

test('the focus moves to an opened campaign, and stays at the switch of sides', async () => {
  await campaign('keyboard');
  await ads.load();
  await ads.logIn();
  await ads.campaigns.getByRole('link', { name: 'For keyboard' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'campaign-title');
  await page.getByRole('radio', { name: 'Advertiser' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('heading', { name: 'Try a slot' }).waitFor();
  await page.keyboard.press('ArrowLeft');
  await ads.title.waitFor();
  assert.equal(await ads.title.innerText(), 'For keyboard', 'the same as before');
  assert.equal(await page.evaluate(() => document.activeElement.value), 'advertiser');
});

// Runs in the page: texts with too little contrast by WCAG.
function faint() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const light = (color) => {
    const [red, green, blue] = channels(color).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return channels(color)[3] === 0 ? behind(element.parentElement) : color;
  };
  const isText = ({ childNodes }) => [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const shown = [...document.body.querySelectorAll('*')].filter((element) => isText(element) && element.checkVisibility() && !element.closest('title, desc, option'));
  return shown.flatMap((element) => {
    const style = getComputedStyle(element);
    const pair = [light(element instanceof SVGElement ? style.fill : style.color), light(behind(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    return ratio < 4.5 ? [`${element.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`] : [];
  });
}

// Runs in the page: fields and buttons without a name.
function unnamed() {
  const name = (field) => field.labels?.[0]?.textContent.trim() || field.getAttribute('aria-label') || (field.matches('button') && field.textContent.trim());
  return [...document.querySelectorAll('input, select, textarea, button')].filter((field) => field.checkVisibility() && !name(field)).map(({ outerHTML }) => outerHTML);
}

// Runs in the page: elements that overflow it.
function tooWide() {
  const over = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest('.scrolled'));
  return over.map(({ outerHTML }) => outerHTML.slice(0, 80));
}

for (const colorScheme of ['light', 'dark']) {
  test(`${colorScheme}, on a phone: everything is named, readable, and within the page`, async () => {
    await browser.close();
    await begin({ viewport: { width: 390, height: 844 }, colorScheme });
    const id = await campaign(`phone ${colorScheme}`, { budget: '9000000', dailyBudget: '1234567.000001', name: 'A name without end '.repeat(5) });
    await change(ada, PAUSE, { campaignId: await campaign('a paused one') });
    await campaign('a later one', { startsAt: '2099-01-01T00:00:00.000Z' });
    const good = async (what) => {
      assert.deepEqual(await page.evaluate(faint), [], what);
      assert.deepEqual(await page.evaluate(unnamed), [], what);
      assert.deepEqual(await page.evaluate(tooWide), [], what);
    };
    await ads.load();
    await good('logged out');
    await ads.logIn();
    await ads.open(id);
    await ads.plot('Daily clicks').locator('.hovers rect').first().waitFor();
    await ads.button('Change').click();
    await ads.send(ads.why, { Slot: 'Square' }, 'Explain');
    await ads.answer.getByRole('listitem').first().waitFor();
    await ads.figures.getByText('The same as a table').click();
    await good('a campaign');
    await ads.load('#campaign=new');
    await ads.send(ads.form('Create campaign'), noBids, 'Create campaign');
    await ads.fieldError(ads.form('Create campaign'), 'Budget');
    await good('a field error');
    await ads.side('Publisher');
    await ads.ask({ 'Website key': key, 'Keywords of the page': `phone ${colorScheme}` });
    await good('a slot');
  });
}
