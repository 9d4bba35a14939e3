// The tabs that a first visit opens: the API's main operations, from the folder of operations, ready to run.
const documents = import.meta.glob('../operations/*.graphql', { query: '?raw', import: 'default', eager: true });
const variables = import.meta.glob('../operations/*.json', { query: '?raw', import: 'default', eager: true });

// The order in which one meets them: read first, then join in.
const ORDER = ['Home', 'Profile', 'Viewer', 'SignUp', 'PostStatus', 'Follow', 'StatusPage', 'PublicStream'];

export const defaultTabs = ORDER.map((name) => ({
  query: documents[`../operations/${name}.graphql`].trim(),
  variables: variables[`../operations/${name}.json`].trim(),
}));

// GraphiQL takes the text of the active tab's editors from its storage, apart from the tabs. A first visit has none yet:
// the first tab would lack its variables, and a reload before the first keystroke would add an empty tab.
export function prepareFirstVisit() {
  try {
    if (localStorage.getItem('graphiql:tabState')) return;
    localStorage.setItem('graphiql:query', defaultTabs[0].query);
    localStorage.setItem('graphiql:variables', defaultTabs[0].variables);
  } catch {
    // Without storage only the first tab's variables are missing.
  }
}
