// A page that asks for a log-in and then shows the home.
import { Suspense, useMemo, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { RelayEnvironmentProvider } from 'react-relay';
import { Home } from './Home';
import { LogIn } from './LogIn';
import { createEnvironment } from './environment';
import { currentToken, onSessionChange } from './session';

function App() {
  const token = useSyncExternalStore(onSessionChange, currentToken);
  // Another session sees other things: it begins with an empty store.
  const environment = useMemo(createEnvironment, [token]);
  return (
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback="Loading …">{token ? <Home key={token} /> : <LogIn />}</Suspense>
    </RelayEnvironmentProvider>
  );
}

createRoot(document.getElementById('root')!).render(<App />);
