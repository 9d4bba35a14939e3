// A text that the server has not confirmed yet, or has refused.
import { contentOf, nameOf } from './texts.ts';
import { useTexts, type Unsent } from './useOutbox.ts';

export function UnsentRow({ text }: { text: Unsent }) {
  const { sendAgain, discard } = useTexts();
  const { state, error, replyTo } = text;
  return (
    <li className="row text-row own unsent" tabIndex={-1} data-state={state}>
      <div className="bubble">
        {replyTo && (
          <p className="quote">
            <strong dir="auto">{nameOf(replyTo.sender)}</strong>{' '}
            <span className="quote-text" dir="auto">
              {contentOf(replyTo)}
            </span>
          </p>
        )}
        <p className="message" dir="auto">
          {text.text}
        </p>
        <p className="row-foot">{error ? 'Not sent' : 'Sending …'}</p>
      </div>
      <p className="error" role="alert">
        {error}
      </p>
      {error && state !== 'sending' && (
        <div className="foot">
          <button type="button" className="quiet" onClick={() => discard(text.key)}>
            Discard
          </button>
          <button type="button" className="quiet" onClick={() => sendAgain(text)}>
            Send again
          </button>
        </div>
      )}
    </li>
  );
}
