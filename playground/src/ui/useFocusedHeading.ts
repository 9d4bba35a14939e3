// The heading of a page whose content has just been replaced takes the focus, which the removed control has lost.
import { useEffect, useRef } from 'react';

export function useFocusedHeading(isNew = true) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => void (isNew && heading.current?.focus({ preventScroll: true })), []);
  return heading;
}
