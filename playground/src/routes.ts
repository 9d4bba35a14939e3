// The routes of the app: each has a folder under `routes` and a line here. The folder's `index.tsx` exports `Component` and is loaded when the route is
// first opened. The name of the folder is the first part of the path.
//
// A route with a `label` is in the navigation, with its path up to the first parameter.
export const routes = [
  { path: '/', label: 'GraphiQL', load: () => import('./routes/graphiql/index.tsx') },
  // A browser that opens the API's path.
  { path: '/graphql', load: () => import('./routes/graphiql/index.tsx') },
  { path: '/home', label: 'Home', load: () => import('./routes/home/index.tsx') },
  { path: '/live', label: 'Live', load: () => import('./routes/live/index.tsx') },
  { path: '/conversation/:statusId/quotes?', load: () => import('./routes/conversation/index.tsx') },
  { path: '/profile/:login', load: () => import('./routes/profile/index.tsx') },
  { path: '/tag/:name', load: () => import('./routes/tag/index.tsx') },
  { path: '/mentions', label: 'Mentions', load: () => import('./routes/mentions/index.tsx') },
  { path: '/bookmarks', label: 'Bookmarks', load: () => import('./routes/bookmarks/index.tsx') },
  { path: '/chat/:chatId?', label: 'Chat', load: () => import('./routes/chat/index.tsx') },
  { path: '/thread/:statusId', load: () => import('./routes/thread/index.tsx') },
  { path: '/people', label: 'People', load: () => import('./routes/people/index.tsx') },
  { path: '/ads', label: 'Ads', load: () => import('./routes/ads/index.tsx') },
  { path: '/sign-up', load: () => import('./routes/sign-up/index.tsx') },
  { path: '/account', load: () => import('./routes/account/index.tsx') },
  { path: '/forgot-password', load: () => import('./routes/forgot-password/index.tsx') },
  // The links of messages, with `#token=`.
  { path: '/confirm-email', load: () => import('./routes/confirm-email/index.tsx') },
  { path: '/reset-password', load: () => import('./routes/reset-password/index.tsx') },
  { path: '/outbox', load: () => import('./routes/outbox/index.tsx') },
];
