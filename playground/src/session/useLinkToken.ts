// The token of a link of a message: `#token=…`. The fragment of a URL is not sent to any server.
import { useRef } from 'react';
import { useLocation, useNavigate } from 'react-router';

export function useLinkToken() {
  const { hash, pathname } = useLocation();
  const navigate = useNavigate();
  const inUrl = new URLSearchParams(hash.slice(1)).get('token');
  // A token is kept after it has left the URL; another link replaces it.
  const token = useRef(inUrl);
  if (inUrl) token.current = inUrl;
  return {
    token: token.current,
    // Once a token is used, it is taken out of the history of the browser, unless another page has been opened meanwhile.
    forget: () => void (location.pathname === pathname && navigate(pathname, { replace: true })),
  };
}
