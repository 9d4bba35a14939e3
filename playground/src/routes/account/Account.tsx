// Reads the account, and shows a section for each part that can be changed.
import { useEffect } from 'react';
import { useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { Loading } from '../../ui/Loading.tsx';
import { EmailSection } from './EmailSection.tsx';
import { LoginSection } from './LoginSection.tsx';
import { AccountDocument } from './operations/Account.generated.ts';
import { PasswordSection } from './PasswordSection.tsx';
import { ProfileSection } from './ProfileSection.tsx';
import { Sessions } from './Sessions.tsx';
import './account.css';

export function Account() {
  const [{ data, error }, readAgain] = useQuery({ query: AccountDocument, requestPolicy: 'cache-and-network' });
  // The link of a message opens in another window: what it has changed is read on return.
  useEffect(() => {
    const refresh = () => readAgain({ requestPolicy: 'network-only' });
    addEventListener('focus', refresh);
    return () => removeEventListener('focus', refresh);
  }, [readAgain]);
  const account = data?.viewerAccount;
  if (!account) return error ? <p className="error" role="alert">{messageOf(errorMessagesOf(error))}</p> : <Loading />;
  return (
    <>
      <ProfileSection account={account} onSaved={() => readAgain({ requestPolicy: 'network-only' })} />
      <EmailSection account={account} login={account.user.login} />
      <LoginSection login={account.user.login} hasPassword={account.hasPassword} />
      <PasswordSection login={account.user.login} hasPassword={account.hasPassword} hasEmail={account.isEmailConfirmed} />
      <Sessions />
    </>
  );
}
