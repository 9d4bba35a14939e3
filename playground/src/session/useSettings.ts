// A hook for the settings of the server. Null until they are read.
import { useEffect, useState } from 'react';
import { fetchSettings, type ServerSettings } from './settings.ts';

export function useSettings(): ServerSettings | null {
  const [settings, setSettings] = useState<ServerSettings | null>(null);
  useEffect(() => void fetchSettings().then(setSettings), []);
  return settings;
}
