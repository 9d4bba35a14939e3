// A short name of a device, from the User-Agent header of its log-in. A hint for its owner: any client can send any text.

// The first that matches counts: most browsers also name those that they resemble.
const BROWSERS: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const LENGTH = 60;

export function deviceName(userAgent: string | null): string {
  if (!userAgent) return 'Unknown device';
  const [browser, system] = [BROWSERS, SYSTEMS].map((names) => names.find(([pattern]) => pattern.test(userAgent))?.[1]);
  if (browser) return system ? `${browser} on ${system}` : browser;
  return userAgent.length > LENGTH ? `${userAgent.slice(0, LENGTH)}…` : userAgent;
}
