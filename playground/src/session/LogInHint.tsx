// The hint of a page without a session, in place of the viewer's own content.
import { Link } from 'react-router';

// `to`: what logging in allows, such as "see your home".
export const LogInHint = ({ to }: { to: string }) => (
  <>
    Log in above to {to}. No account yet? <Link to="/sign-up">Sign up</Link>.
  </>
);
