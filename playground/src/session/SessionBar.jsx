// The bar at the top: the brand, who is asking, and the way to change that.
import { useEffect, useRef, useState } from 'react';
import mark from '../waxwing.svg';
import { fetchDemo } from '../demo.js';
import { checkSession } from './actions.js';
import { LoggedIn } from './LoggedIn.jsx';
import { LoggedOut } from './LoggedOut.jsx';
import { useSession } from './useSession.js';

export function SessionBar() {
  const { session, notice } = useSession();
  const demo = useDemo();
  const section = useRescuedFocus(session);
  useEffect(() => void checkSession(), []);
  return (
    <header className="session-bar">
      <h1>
        <img src={mark} alt="" width="24" height="24" /> Waxwing <small>playground</small>
      </h1>
      <nav>
        <a href="/live">Live timeline</a> <a href="/ads">Ads</a>
      </nav>
      <section aria-label="Session" ref={section} tabIndex={-1}>
        {notice && <p role="alert">{notice}</p>}
        {session ? <LoggedIn session={session} /> : <LoggedOut demo={demo} />}
      </section>
    </header>
  );
}

// Logging in or out takes away the control that had the focus. Without this, a keyboard would start again from the top of
// the page. A session that ends while one is in an editor leaves the focus there.
function useRescuedFocus(session) {
  const element = useRef(null);
  const before = useRef(session);
  useEffect(() => {
    if (before.current !== session && document.activeElement === document.body) element.current.focus();
    before.current = session;
  }, [session]);
  return element;
}

function useDemo() {
  const [demo, setDemo] = useState(null);
  useEffect(() => void fetchDemo().then(setDemo), []);
  return demo;
}
