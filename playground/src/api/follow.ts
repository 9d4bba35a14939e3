// Runs the subscriptions of urql over `resume.js`, so that they resume after the last event when a connection ends. The context of a subscription has
// the functions that `resume.js` calls:
//
//     client.subscription(document, variables, { resume: { read, onGap, onState } })
import type { Operation, SubscriptionExchangeOpts } from 'urql';
import { resume, type Options, type Resumed } from '../live/resume.js';
import type { Token } from '../session/store.ts';

type Begin = Pick<Options<unknown>, 'read' | 'begin' | 'onGap' | 'onState'>;
export type ResumeContext = Begin & {
  // Sends the token of the session. Without it the subscription is anonymous and continues when the session ends.
  asViewer?: boolean;
  // Receives the running subscription, whose `reconnect` reconnects at once.
  onStart?: (resumed: Resumed) => void;
};

export function follow(token: Token | null): SubscriptionExchangeOpts['forwardSubscription'] {
  return ({ query, variables }, operation) => ({
    subscribe(sink) {
      const { asViewer, onStart, ...begin } = operation.context.resume as ResumeContext;
      const field = rootField(operation);
      const resumed = resume({
        ...begin,
        query: query ?? '',
        variables,
        token: asViewer ? token : null,
        onEvent: (event) => sink.next({ data: { [field]: event } }),
      });
      onStart?.(resumed);
      return { unsubscribe: () => resumed.stop() };
    },
  });
}

// A subscription has exactly one field.
function rootField({ query }: Operation): string {
  for (const definition of query.definitions) {
    if (definition.kind !== 'OperationDefinition') continue;
    const [field] = definition.selectionSet.selections;
    if (field?.kind === 'Field') return field.alias?.value ?? field.name.value;
  }
  throw new Error('a subscription has a field');
}
