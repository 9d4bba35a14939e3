// The title of the browser's tab.
import { useEffect } from 'react';

export function useTitle(part: string): void {
  useEffect(() => {
    document.title = `Waxwing ${part}`;
  }, [part]);
}
