// A page with a log-in form, and the home after the log-in.
import { Suspense, useMemo, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { RelayEnvironmentProvider } from 'react-relay';
import { Home } from './Home';
import { LogIn } from './LogIn';
import { createEnvironment } from './environment';
import { currentToken, onSessionChange } from './session';

function App() {
  const token = useSyncExternalStore(onSessionChange, currentToken);
  const environment = useMemo(() => createEnvironment(token), [token]);
  return (
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback="Loading …">{token ? <Home key={token} /> : <LogIn />}</Suspense>
    </RelayEnvironmentProvider>
  );
}

createRoot(document.getElementById('root')!).render(<App />);
