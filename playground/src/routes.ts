// The parts of the app: a folder under `routes` and a line here for each. A folder's `index.tsx` exports `Component`; it is loaded when it is first
// shown. The name of the folder is the first part of its address.
//
// `label` puts it into the navigation.
export const routes = [
  { path: '/', label: 'GraphiQL', load: () => import('./routes/graphiql/index.tsx') },
  // Where a browser looks at the API itself.
  { path: '/graphql', load: () => import('./routes/graphiql/index.tsx') },
  { path: '/home', label: 'Home', load: () => import('./routes/home/index.tsx') },
  { path: '/live', label: 'Live', load: () => import('./routes/live/index.tsx') },
  { path: '/thread/:statusId', load: () => import('./routes/thread/index.tsx') },
  { path: '/ads', label: 'Ads', load: () => import('./routes/ads/index.tsx') },
];
