// The mutations of one text. Each returns its errors.
import { useClient, type TypedDocumentNode } from 'urql';
import { errorMessagesOf, type ErrorMessage } from '../../api/errorMessages.ts';
import type { ChatRow } from './lists.ts';
import { ChatDeleteDocument } from './operations/ChatDelete.generated.ts';
import { ChatEditDocument } from './operations/ChatEdit.generated.ts';
import { ChatReactDocument } from './operations/ChatReact.generated.ts';
import { ChatRemoveReactionDocument } from './operations/ChatRemoveReaction.generated.ts';
import { useAllChats } from './useChats.ts';

interface Result {
  result: { chatMessage: ChatRow | null; userErrors: readonly { message: string; path: readonly string[] }[] } | null;
}

export function useRowActions(chatId: string, messageId: string) {
  const client = useClient();
  const { keepRow } = useAllChats();
  async function send<Input>(document: TypedDocumentNode<Result, { input: Input }>, input: Input): Promise<ErrorMessage[]> {
    const { data, error } = await client.mutation(document, { input }).toPromise();
    if (data?.result?.chatMessage) keepRow(chatId, data.result.chatMessage);
    return errorMessagesOf(error, data?.result);
  }
  return {
    edit: (text: string) => send(ChatEditDocument, { messageId, text }),
    remove: () => send(ChatDeleteDocument, { messageId }),
    react: (emoji: string, isOn: boolean) => send(isOn ? ChatReactDocument : ChatRemoveReactionDocument, { messageId, emoji }),
  };
}

export type RowActions = ReturnType<typeof useRowActions>;
