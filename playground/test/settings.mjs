// The URL of the server under test and the login, from the command line or the environment.
import { parseArgs } from 'node:util';

const USAGE =
  'Usage: node test/e2e.mjs --url http://127.0.0.1:4000 --login ada --password SECRET [--screenshot FILE]\n' +
  'or set WAXWING_URL, WAXWING_LOGIN and WAXWING_PASSWORD and run npm test.';

const string = { type: 'string' };
const { values } = parseArgs({ options: { url: string, login: string, password: string, screenshot: string } });

export const url = values.url ?? process.env.WAXWING_URL;
export const login = values.login ?? process.env.WAXWING_LOGIN;
export const password = values.password ?? process.env.WAXWING_PASSWORD;
export const screenshot = values.screenshot ?? process.env.WAXWING_SCREENSHOT;
export const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';

if (!url || !login || !password) {
  console.error(USAGE);
  process.exit(2);
}
