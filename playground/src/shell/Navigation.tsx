// The routes that have a label. The current one is marked with `aria-current`.
import { NavLink } from 'react-router';
import { ChatBadge } from '../chats/ChatBadge.tsx';
import { routes } from '../routes.ts';

export function Navigation() {
  return (
    <nav aria-label="Parts">
      {routes.map(
        ({ path, label }) =>
          label && (
            <NavLink key={path} to={path.replace(/\/:.*/, '')} end={path === '/'}>
              {label}
              {label === 'Chat' && <ChatBadge />}
            </NavLink>
          ),
      )}
    </nav>
  );
}
