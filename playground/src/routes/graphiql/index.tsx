// GraphiQL, with the main operations of the API in its tabs.
import { GraphiQL } from 'graphiql';
import { getOperationAST, type DocumentNode } from 'graphql';
import { useState } from 'react';
import { currentToken } from '../../session/store.ts';
import { useTheme } from '../../shell/theme.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { FillVariables } from './FillVariables.tsx';
import { send, type Request } from './send.ts';
import { subscribe } from './subscribe.ts';
import { defaultTabs, prepareStorage } from './tabs.ts';
import { storeValues } from './variableValues.ts';
import 'graphiql/style.css';
import './graphiql.css';
import './phone.css';

interface Options {
  documentAST?: DocumentNode;
  headers?: Record<string, string>;
}

// GraphiQL reads the schema again whenever the identity of its fetcher changes: it must not be created in a component.
async function fetcher(request: Request, options?: Options) {
  const operation = options?.documentAST && getOperationAST(options.documentAST, request.operationName);
  if (operation?.operation === 'subscription') return subscribe(request, options?.headers);
  const token = currentToken();
  const result = await send(request, options?.headers);
  storeValues(result.data, token);
  return result;
}

export function Component() {
  const theme = useTheme();
  useTitle('playground');
  useState(prepareStorage);
  return (
    <main className="graphiql-page">
      <h1 className="visually-hidden">GraphiQL</h1>
      <GraphiQL fetcher={fetcher as never} defaultTabs={defaultTabs} defaultEditorToolsVisibility="variables" forcedTheme={theme}>
        <GraphiQL.Logo>
          <span className="visually-hidden">GraphiQL</span>
        </GraphiQL.Logo>
        <GraphiQL.Toolbar>{FillVariables}</GraphiQL.Toolbar>
      </GraphiQL>
    </main>
  );
}
