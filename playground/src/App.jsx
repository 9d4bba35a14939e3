// The whole page: the session bar above GraphiQL.
//
// The session has a bar rather than a pane of GraphiQL's sidebar, because who is asking decides what every operation
// answers: it stays in sight while the documentation or the history is open.
import { GraphiQL } from 'graphiql';
import { getOperationAST } from 'graphql';
import { send } from './send.js';
import { SessionBar } from './session/SessionBar.jsx';
import { subscribe } from './subscribe.js';
import { defaultTabs } from './tabs.js';

// GraphiQL asks for the schema anew whenever the identity of its fetcher changes: it must not be made inside a component.
function fetcher(request, options) {
  const operation = options?.documentAST && getOperationAST(options.documentAST, request.operationName);
  const follow = operation?.operation === 'subscription' ? subscribe : send;
  return follow(request, options?.headers);
}

export function App() {
  return (
    <>
      <SessionBar />
      <main>
        <GraphiQL fetcher={fetcher} defaultTabs={defaultTabs} defaultEditorToolsVisibility="variables">
          <GraphiQL.Logo>
            <span className="visually-hidden">GraphiQL</span>
          </GraphiQL.Logo>
        </GraphiQL>
      </main>
    </>
  );
}
