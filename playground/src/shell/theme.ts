// The theme of the user: light, dark, or that of the system. Stored in the browser for all tabs.
import { useSyncExternalStore } from 'react';

const KEY = 'waxwing.theme';
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();
let theme = load();
apply();

addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) change(load());
});

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => theme);
}

export function chooseTheme(next: Theme): void {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser may refuse storage: then the choice is lost with the page.
  }
  change(next);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: Theme): void {
  theme = next;
  apply();
  for (const listener of listeners) listener();
}

function apply(): void {
  document.documentElement.dataset.theme = theme;
}

function load(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return THEMES.find((name) => name === kept) ?? 'system';
  } catch {
    return 'system';
  }
}
