// The functions of the ad network's page that need no browser: money, axes, texts of states and reasons.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './source.mjs';

const { money, subtract } = await load('routes/ads/money.ts');
const { ctrOf, namedDays, ticks, tickTexts } = await load('routes/ads/scale.ts');
const { allowedActions, capText, duration, hostOf, inUnits, reasonText, rows, stateName, stateText } = await load('routes/ads/labels.ts');

// Independent of the separators of the locale.
const digits = (text) => text.replace(/\D/g, '');

test('money is shown with all its decimals, at least two', () => {
  assert.equal(digits(money('9000000.000000001')), '9000000000000001');
  assert.equal(digits(money('8999999.999999999')), '8999999999999999');
  assert.equal(digits(money('0.000000001')), '0000000001');
  assert.equal(digits(money('2.5')), '250');
  assert.equal(digits(money('1000')), '100000');
});

test('a difference is exact and never negative', () => {
  assert.equal(subtract('9000000', '0.000000001'), '8999999.999999999');
  assert.equal(subtract('0.3', '0.1'), '0.2');
  assert.equal(subtract('2.250', '0.05'), '2.2');
  assert.equal(subtract('10', '10'), '0');
  assert.equal(subtract('1', '1.000000001'), '0');
});

test('an axis begins at zero, includes the maximum, and has even steps', () => {
  for (const greatest of [1e-9, 0.013, 0.3, 1, 3, 7, 12, 99, 100, 101, 1_234_567, 9_000_000]) {
    const marks = ticks(greatest);
    assert.equal(marks[0], 0);
    assert.ok(marks.at(-1) >= greatest * (1 - 1e-9) && marks.at(-2) < greatest, `${greatest}: ${marks}`);
    assert.ok(marks.length >= 3 && marks.length <= 5, `${greatest}: ${marks}`);
    marks.forEach((mark, at) => assert.ok(Math.abs(mark - at * marks[1]) <= marks[1] * 1e-9, `${greatest}: ${marks}`));
  }
  assert.deepEqual(ticks(0.3), [0, 0.1, 0.2, 0.3], 'tenths do not drift');
  assert.deepEqual(ticks(0), [0, 1]);
});

test('the axis of a count has integers only', () => {
  for (const greatest of [1, 2, 3]) assert.ok(ticks(greatest, { whole: true }).every(Number.isInteger));
  assert.deepEqual(ticks(1, { whole: true }), [0, 1]);
});

test('the labels of an axis are unique', () => {
  for (const greatest of [1e-9, 0.013, 0.3, 3, 12_345, 1_234_567]) {
    for (const style of [undefined, 'percent']) {
      const texts = tickTexts(ticks(greatest), { style });
      assert.equal(new Set(texts).size, texts.length, `${greatest}: ${texts}`);
    }
  }
  assert.deepEqual(tickTexts([0, 0.005, 0.01], { style: 'percent' }).map(digits), ['00', '05', '10']);
});

test('the last day always has a label, and labels keep their distance', () => {
  assert.deepEqual(namedDays(7, 700, 64), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(namedDays(1, 300, 64), [0]);
  for (const days of [2, 30, 90, 366]) {
    for (const width of [200, 320, 700]) {
      const named = namedDays(days, width, 64);
      assert.equal(named.at(-1), days - 1);
      for (let at = 1; at < named.length; at++) assert.ok(((named[at] - named[at - 1]) * width) / days >= 64, `${days} days on ${width}`);
    }
  }
});

test('a day is the same in every time zone', async () => {
  process.env.TZ = 'America/Los_Angeles';
  const { dayText } = await load('routes/ads/scale.ts');
  assert.match(dayText('2026-03-01'), /\b1\b/);
});

test('without impressions there is no CTR', () => {
  assert.equal(ctrOf({ impressions: 0, clicks: 0 }), null);
  assert.equal(ctrOf({ impressions: 8, clicks: 2 }), 0.25);
});

test('the period of a cap is an integer of its largest unit, and its text has all units', () => {
  assert.deepEqual(inUnits(86_400), { per: 1, unit: 86_400 });
  assert.deepEqual(inUnits(5_400), { per: 90, unit: 60 });
  assert.deepEqual(inUnits(61), { per: 61, unit: 1 });
  assert.equal(digits(duration(90_061)), '1111');
  assert.equal(digits(duration(7_200)), '2');
  assert.equal(digits(capText({ impressions: 3, perSeconds: 5_400 })), '3130');
});

test('every state and reason has a text, and an unknown one its code', () => {
  for (const state of ['SCHEDULED', 'ACTIVE', 'PAUSED', 'EXHAUSTED', 'ENDED', 'STOPPED']) {
    const campaign = { state, startsAt: '2026-03-01T00:00:00.000Z', endsAt: null, ads: { edges: [{}] } };
    assert.notEqual(stateName(campaign), state);
    assert.match(stateText(campaign), /\.$/);
  }
  assert.deepEqual([stateName({ state: 'MISLAID' }), stateText({ state: 'MISLAID' })], ['MISLAID', '']);
  const reasons = 'PAUSED STOPPED NOT_STARTED ENDED BUDGET_SPENT DAILY_BUDGET_SPENT PACED CAPPED KEYWORDS SLOT NO_ADS SUSPENDED'.split(' ');
  assert.equal(new Set(reasons.map(reasonText)).size, reasons.length);
  for (const reason of reasons) assert.notEqual(reasonText(reason), reasonText('MISLAID').replace('MISLAID', reason));
});

test('a campaign that cannot be served is not called active', () => {
  const text = (more) => stateText({ state: 'ACTIVE', isSuspended: false, ads: { edges: [{}] }, ...more });
  const all = [text({}), text({ ads: { edges: [] } }), text({ isSuspended: true })];
  assert.deepEqual(
    all.map((text) => text.startsWith('Its ads are served')),
    [true, false, false],
  );
  assert.equal(stateText({ state: 'EXHAUSTED' }), reasonText('BUDGET_SPENT'));
});

test('a stopped campaign cannot be resumed, and an ended one cannot be paused', () => {
  const actions = (state) => Object.entries(allowedActions({ state })).filter(([, may]) => may).map(([name]) => name);
  assert.deepEqual(actions('ACTIVE'), ['pause', 'stop']);
  assert.deepEqual(actions('PAUSED'), ['resume', 'stop']);
  assert.deepEqual(actions('ENDED'), ['stop']);
  assert.deepEqual(actions('STOPPED'), []);
});

test('rows and hosts', () => {
  assert.deepEqual(rows(' red kite \n\n\twaxwing'), ['red kite', 'waxwing']);
  assert.equal(hostOf('https://example.com:8443/a?b'), 'example.com:8443');
  assert.equal(hostOf('nowhere'), 'nowhere');
});
