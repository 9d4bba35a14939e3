// Uses the generated types of scalars and enums. `npm run build` fails if a document does not match the schema.
import { graphql } from './gql/index.js';
import type { UserErrorCode } from './gql/graphql.js';
import { billionths, decimal } from './money.js';
import { send } from './send.js';

const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) { session { token expiresAt } userErrors { code message } }
  }
`);
const HOME = graphql(`
  query Home($first: Int) {
    homeTimeline { entries(first: $first) { edges { node { id status { id message postedAt author { login } } } } } }
  }
`);
const CREATE_CAMPAIGN = graphql(`
  mutation CreateCampaign($input: CreateCampaignInput!) {
    createCampaign(input: $input) { campaign { id budget dailyBudget } userErrors { code message path } }
  }
`);

const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';
const { logIn } = await send(LOG_IN, { input: { login, password } });
if (!logIn?.session) throw new Error(logIn?.userErrors[0]?.message);
const { token } = logIn.session;

// DateTime is a string in RFC 3339, which Date reads.
const { homeTimeline } = await send(HOME, { first: 1 }, token);
const newest = homeTimeline?.entries.edges[0]?.node.status;
console.log('posted in', newest && new Date(newest.postedAt).getUTCFullYear());

// A Decimal of a response is a string. A variable may be a number, but only a string is exact.
const made = await send(CREATE_CAMPAIGN, { input: { name: 'Spring', budget: '9000000', dailyBudget: '0.2' } }, token);
const campaign = made.createCampaign?.campaign;
console.log('budget:', campaign?.budget, 'a day:', campaign?.dailyBudget);
// With numbers this would be 0.30000000000000004.
console.log('0.1 more:', decimal(billionths(campaign?.dailyBudget ?? '0') + billionths('0.1')));
// @ts-expect-error A Decimal is not a number.
campaign?.budget.toFixed;

const refused = await send(CREATE_CAMPAIGN, { input: { name: '', budget: '0' } }, token);
for (const { code, path } of refused.createCampaign?.userErrors ?? []) console.log(`${path.join('.')}: ${sentence(code)}`);

function sentence(code: UserErrorCode): string {
  switch (code) {
    case 'INVALID_NAME':
      return 'Please choose a name of 1 to 100 characters.';
    case 'INVALID_INPUT':
      return 'Please check this field.';
    default:
      return `Please check this field (${code}).`;
  }
}
