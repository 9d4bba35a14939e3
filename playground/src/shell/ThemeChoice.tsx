// Chooses the theme of the whole app.
import { chooseTheme, THEMES, useTheme, type Theme } from './theme.ts';

const LABELS: Record<Theme, string> = { system: 'System', light: 'Light', dark: 'Dark' };

export function ThemeChoice() {
  const theme = useTheme();
  return (
    <label className="theme">
      <span className="visually-hidden">Theme</span>
      <select value={theme} onChange={({ target }) => chooseTheme(target.value as Theme)}>
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {LABELS[name]}
          </option>
        ))}
      </select>
    </label>
  );
}
