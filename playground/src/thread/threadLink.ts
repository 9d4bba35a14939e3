// The thread that is open beside a timeline. It is part of the URL, so that links, reloads and the back button work.
import { useCallback } from 'react';
import { useLocation, useNavigate } from 'react-router';

const NAME = 'thread';

// The status whose thread is open, or null, and a function that opens another thread or closes it.
export function useThreadLink(): [string | null, (statusId: string | null) => void] {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const open = useCallback(
    (statusId: string | null) => void navigate({ hash: statusId ? String(new URLSearchParams({ [NAME]: statusId })) : '' }),
    [navigate],
  );
  return [new URLSearchParams(hash.slice(1)).get(NAME), open];
}
