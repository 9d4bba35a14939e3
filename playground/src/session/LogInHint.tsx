// What a page shows in place of the viewer's own content while nobody is logged in.
import { Link } from 'react-router';

// `to`: what logging in allows, such as "see your home".
export const LogInHint = ({ to }: { to: string }) => (
  <>
    Log in above to {to}. No account yet? Sign up with the first tab of <Link to="/">GraphiQL</Link>.
  </>
);
