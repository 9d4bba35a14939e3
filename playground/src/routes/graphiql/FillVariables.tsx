// The toolbar of GraphiQL. When a tab opens, its variables are filled with ids of earlier responses.
import { useEditorContext } from '@graphiql/react';
import { useEffect, type ReactNode } from 'react';
import { fillVariables } from './variableValues.ts';

interface Buttons {
  prettify: ReactNode;
  merge: ReactNode;
  copy: ReactNode;
}

export function FillVariables({ prettify, merge, copy }: Buttons) {
  return (
    <>
      {prettify}
      {merge}
      {copy}
      <Filler />
    </>
  );
}

function Filler() {
  const { activeTabIndex, tabs, queryEditor, variableEditor, headerEditor, responseEditor } = useEditorContext({ nonNull: true });
  const tab = tabs[activeTabIndex];
  const operation = tab?.operationName ?? tab?.title;
  const [id, variables] = [tab?.id, tab?.variables];
  useEffect(() => {
    const next = fillVariables(operation, variables ?? '');
    if (next) variableEditor?.setValue(next);
    // Only when a tab opens: a variable that the user clears stays empty.
  }, [id, operation, variableEditor]);
  // Editors have no labels for screen readers of their own.
  useEffect(() => {
    const editors = { Operation: queryEditor, Variables: variableEditor, Headers: headerEditor, Answer: responseEditor };
    for (const [label, editor] of Object.entries(editors)) editor?.getInputField().setAttribute('aria-label', label);
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);
  return null;
}
