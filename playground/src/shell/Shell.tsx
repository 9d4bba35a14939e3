// The frame around every route: the navigation, the theme, the session, and the API client of the session.
import { Suspense, useMemo } from 'react';
import { Outlet } from 'react-router';
import { Provider } from 'urql';
import { createClient } from '../api/client.ts';
import { SessionBar } from '../session/SessionBar.tsx';
import { useSession } from '../session/useSession.ts';
import { Loading } from '../ui/Loading.tsx';
import { Navigation } from './Navigation.tsx';
import { ThemeChoice } from './ThemeChoice.tsx';
import mark from './waxwing.svg';
import './theme.css';
import './shell.css';
import '../ui/page.css';

export function Shell() {
  const token = useSession().session?.token ?? null;
  const client = useMemo(() => createClient(token), [token]);
  return (
    <Provider value={client}>
      <header className="bar">
        <p className="brand">
          <img src={mark} alt="" width="24" height="24" /> Waxwing
        </p>
        <Navigation />
        <ThemeChoice />
        <SessionBar />
      </header>
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
    </Provider>
  );
}
