// Which thread is open beside a timeline: the address says it, so that it can be linked to, outlives a reload and is left by going back.
import { useCallback } from 'react';
import { useLocation, useNavigate } from 'react-router';

const NAME = 'thread';

// The status whose thread is open, or null; and what opens another one, or closes it.
export function useThreadLink(): [string | null, (statusId: string | null) => void] {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const open = useCallback(
    (statusId: string | null) => void navigate({ hash: statusId ? String(new URLSearchParams({ [NAME]: statusId })) : '' }),
    [navigate],
  );
  return [new URLSearchParams(hash.slice(1)).get(NAME), open];
}
