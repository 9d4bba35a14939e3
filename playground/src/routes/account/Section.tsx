// A part of the account, with its heading.
import { useId, type ReactNode, type Ref } from 'react';
import { Done } from '../../ui/Done.tsx';

interface Props {
  title: string;
  // The heading takes the focus of a control that disappears.
  heading?: Ref<HTMLHeadingElement>;
  children: ReactNode;
}

export function Section({ title, heading, children }: Props) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <h2 id={id} ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </section>
  );
}

// The end of a form: what it has done, and its button.
export function Foot({ label, busy, done }: { label: string; busy: boolean; done?: ReactNode }) {
  return (
    <div className="foot">
      <Done>{done}</Done>
      <button className="primary" aria-disabled={busy}>
        {label}
      </button>
    </div>
  );
}

// The text in place of a form that asks for the password, for an account without a password.
export const NoPassword = () => <p className="hint">This account has no password, so this cannot be changed. A link by “Forgot your password?” sets the first one.</p>;
