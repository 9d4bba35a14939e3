// The members of a chat, a page at a time, with the rows that they have seen.
import { useEffect, useRef } from 'react';
import { read } from '../../api/read.ts';
import { pageOf, usePages } from '../../api/usePages.ts';
import type { ChatMemberCardFragment } from './fragments/ChatMemberCard.generated.ts';
import type { ChatRow } from './lists.ts';
import { ChatMembersDocument } from './operations/ChatMembers.generated.ts';
import { useAllChats, useChatChange } from './useChats.ts';

const FIRST = 100;

export interface Member extends ChatMemberCardFragment {
  key: string;
}

export function useMembers(chatId: string) {
  const pages = usePages<Member>(chatId, async (client, after) => {
    const { node } = await read(client, ChatMembersDocument, { id: chatId, first: FIRST, after });
    const members = node?.__typename === 'Chat' ? node.members : null;
    return pageOf(members, ({ cursor, node }) => ({ ...node, key: node.user?.id ?? cursor }));
  });
  useChatChange((change) => {
    if (change.__typename === 'StreamGap' || change.__typename === 'ReceiptsChanged') return void pages.readAgain();
    if (change.chatId !== chatId) return;
    if (change.__typename === 'SeenChanged') pages.change((members) => members.map((member) => laterOf(member, change.member)));
    else if (READ_AGAIN.includes(change.__typename)) void pages.readAgain();
  });
  // A crash of the server may lose the event of a position, which is stored: they are read again when the connection is back.
  const isLive = useAllChats().connection.phase === 'live';
  const wasLive = useRef(false);
  useEffect(() => {
    if (isLive && wasLive.current) void pages.readAgain();
    wasLive.current ||= isLive;
  }, [isLive]);
  return pages;
}

export type Members = ReturnType<typeof useMembers>;

const READ_AGAIN: readonly string[] = ['ChatMemberJoined', 'ChatMemberLeft', 'ChatMemberRoleChanged', 'ViewerChatChanged'];

// An event during a read may be older than its result: positions never fall. `seenSequence` is null if it is not shared.
function laterOf(member: Member, changed: ChatMemberCardFragment): Member {
  if (!member.user || member.user.id !== changed.user?.id) return member;
  const later = (one: number | null, other: number | null) => (other === null ? null : Math.max(one ?? 0, other));
  const seenSequence = later(member.seenSequence, changed.seenSequence);
  return { ...member, seenSequence, deliveredSequence: later(member.deliveredSequence, changed.deliveredSequence) };
}

export interface Tick {
  state: 'sent' | 'delivered' | 'seen';
  text: string;
}

// Whether a text of the viewer was sent, delivered or seen, and the description of it.
export function tickOf({ sequence }: ChatRow, members: readonly Member[], viewerId: string | undefined): Tick {
  const others = members.filter(({ user }) => user?.id !== viewerId);
  const seen = others.filter(({ seenSequence }) => (seenSequence ?? 0) >= sequence).length;
  const isDelivered = others.length > 0 && others.every(({ deliveredSequence }) => (deliveredSequence ?? 0) >= sequence);
  const isGroup = others.length > 1;
  if (others.length > 0 && seen === others.length) return { state: 'seen', text: isGroup ? 'Seen by all' : 'Seen' };
  if (isGroup && seen > 0) return { state: isDelivered ? 'delivered' : 'sent', text: `Seen by ${seen} of ${others.length}` };
  return isDelivered ? { state: 'delivered', text: isGroup ? 'Delivered to all' : 'Delivered' } : { state: 'sent', text: 'Sent' };
}
