// The profile of an account.
import { useParams } from 'react-router';
import { useTitle } from '../../ui/useTitle.ts';
import { Profile } from './Profile.tsx';

export function Component() {
  const { login = '' } = useParams();
  useTitle(`profile of ${login}`);
  return (
    <main className="columns timelines no-aside profile">
      <h1 className="visually-hidden">Profile of {login}</h1>
      <div>
        <Profile key={login} login={login} />
      </div>
    </main>
  );
}
