// A form that begins a session.
import { useState } from 'react';
import type { FormEvent } from 'react';
import { graphql, useMutation } from 'react-relay';
import type { LogInMutation } from './__generated__/LogInMutation.graphql';
import { beginSession } from './session';

export function LogIn() {
  const [error, setError] = useState('');
  const [logIn, isSending] = useMutation<LogInMutation>(graphql`
    mutation LogInMutation($input: LogInInput!) {
      logIn(input: $input) {
        session {
          token
        }
        userErrors {
          message
        }
      }
    }
  `);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const input = { login: String(form.get('login')), password: String(form.get('password')) };
    logIn({
      variables: { input },
      onCompleted({ logIn }) {
        if (logIn?.session) beginSession(logIn.session.token);
        else setError(logIn?.userErrors[0]?.message ?? '');
      },
      onError: (error) => setError(error.message),
    });
  }

  return (
    <form onSubmit={submit}>
      <label>
        Login <input name="login" defaultValue="ada" />
      </label>
      <label>
        Password <input name="password" type="password" />
      </label>
      <button disabled={isSending}>Log in</button>
      <p role="alert">{error}</p>
    </form>
  );
}
