// Reads pages of the home into its connection. `loadPrevious` of a component has the cursor of the last render, and a refetch aborts it without
// calling `onComplete`; these functions take the cursor from the store.
import { fetchQuery } from 'react-relay';
import { ConnectionHandler, commitLocalUpdate } from 'relay-runtime';
import type { Environment } from 'relay-runtime';
import PAGE from './__generated__/HomePageQuery.graphql';
import type { HomePageQuery } from './__generated__/HomePageQuery.graphql';

// Reads the page in front of the newest entry. Returns whether there are newer entries than those.
export async function readNewerPage(environment: Environment): Promise<boolean> {
  await fetchQuery<HomePageQuery>(environment, PAGE, { last: 20, before: pageInfo(environment).startCursor }).toPromise();
  return pageInfo(environment).hasPreviousPage;
}

// Replaces the entries by those of the first page.
export async function readFirstPage(environment: Environment): Promise<void> {
  await fetchQuery<HomePageQuery>(environment, PAGE, { first: 3 }).toPromise();
}

function pageInfo(environment: Environment) {
  let [startCursor, hasPreviousPage]: [string | null, boolean] = [null, false];
  commitLocalUpdate(environment, (store) => {
    const home = store.getRoot().getLinkedRecord('homeTimeline');
    const info = home && ConnectionHandler.getConnection(home, 'Home_entries')?.getLinkedRecord('pageInfo');
    startCursor = (info?.getValue('startCursor') as string | null | undefined) ?? null;
    hasPreviousPage = info?.getValue('hasPreviousPage') === true;
  });
  return { startCursor, hasPreviousPage };
}
