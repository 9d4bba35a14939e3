// The entry point: the shell with the route of the URL.
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { routes } from './routes.ts';
import { RouteError } from './shell/RouteError.tsx';
import { Shell } from './shell/Shell.tsx';
import { Loading } from './ui/Loading.tsx';

const children = routes.map(({ path, load }) => ({ path, lazy: load, ErrorBoundary: RouteError, HydrateFallback: Loading }));
const router = createBrowserRouter([{ Component: Shell, children: [...children, { path: '*', Component: RouteError }], HydrateFallback: Loading }]);
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <RouterProvider router={router} />
    </StrictMode>,
  );
}
