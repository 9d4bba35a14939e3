// Starts Chromium with access to the server under test only, and records console errors, exceptions and foreign requests.
import { chromium as playwright } from 'playwright-core';
import { chromium, url } from './settings.mjs';

// Without these, Chromium sends requests to its vendor.
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// Opens a page that may send requests to one origin only.
export async function open(home = url, options = {}) {
  const browser = await playwright.launch({ executablePath: chromium, headless: true, args: ARGS });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const pageErrors = [];
  await keepAtHome(context, home, pageErrors);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  page.on('console', (message) => message.type() === 'error' && pageErrors.push(`Console: ${message.text()}`));
  page.on('pageerror', (error) => pageErrors.push(`Exception: ${error.message}`));
  return { browser, page, pageErrors };
}

async function keepAtHome(context, home, pageErrors) {
  const { origin } = new URL(home);
  await context.route('**/*', (route) => {
    const target = route.request().url();
    if (new URL(target).origin === origin) return route.continue();
    pageErrors.push(`Foreign request: ${target}`);
    return route.abort();
  });
}
