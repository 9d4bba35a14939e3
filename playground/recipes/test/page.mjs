// A page in headless Chromium with access to loopback addresses only.
import { chromium } from 'playwright-core';

// Without these, Chromium sends requests to its vendor.
const ARGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export async function withPage(url, visit) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, args: ARGS });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.route('**/*', (route) => (new URL(route.request().url()).hostname === '127.0.0.1' ? route.continue() : route.abort()));
    await page.goto(url);
    await visit(page);
  } finally {
    await browser.close();
  }
}
