// The page for a route that failed or does not exist. The navigation and the session stay.
import { isRouteErrorResponse, useRouteError } from 'react-router';
import { useTitle } from '../ui/useTitle.ts';

export function RouteError() {
  const error = useRouteError();
  useTitle('error');
  const isMissing = error == null || (isRouteErrorResponse(error) && error.status === 404);
  return (
    <main className="failed">
      <h1>{isMissing ? 'There is no such page' : 'This page failed'}</h1>
      {isMissing ? <p>Choose a part of the playground above.</p> : <Failure error={error} />}
    </main>
  );
}

function Failure({ error }: { error: unknown }) {
  return (
    <>
      <p className="error" role="alert">
        {error instanceof Error ? error.message : String(error)}
      </p>
      <button type="button" onClick={() => location.reload()}>
        Load it again
      </button>
    </>
  );
}
