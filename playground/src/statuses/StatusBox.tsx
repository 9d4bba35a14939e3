// The box for a new status: a post, a reply or a quote, with its audience and who may reply to it.
import { useState, type ReactNode } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../api/errorMessages.ts';
import type { ReplyPolicy } from '../api/schema.generated.ts';
import { WritingBox } from '../ui/WritingBox.tsx';
import { PUBLIC, valueOf, type Audience } from './audience.ts';
import { AudienceMenu } from './AudienceMenu.tsx';
import { MAX_LENGTH } from './EditStatus.tsx';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import { StatusPostDocument } from './operations/Post.generated.ts';
import { ReplyPolicyMenu } from './ReplyPolicyMenu.tsx';

interface Props {
  // The name of the form, and of its button.
  label: string;
  // The name of the text field.
  field: string;
  placeholder: string;
  className?: string;
  // The status that the new one replies to, or quotes.
  about?: { replyToId: string } | { quotedStatusId: string };
  onPosted?: (status: StatusCardFragment, audience: Audience) => void;
  // Closes a box that was opened by a button.
  onClose?: () => void;
  children?: ReactNode;
}

export function StatusBox({ about, onPosted, onClose, children, ...box }: Props) {
  const [, post] = useMutation(StatusPostDocument);
  const [audience, setAudience] = useState(PUBLIC);
  const [replyPolicy, setReplyPolicy] = useState<ReplyPolicy>('EVERYONE');
  const send = async (message: string, idempotencyKey: string) => {
    const { data, error } = await post({ input: { message, ...audience, replyPolicy, ...about, idempotencyKey } });
    if (data?.postStatus?.status) onPosted?.(data.postStatus.status, audience);
    return errorMessagesOf(error, data?.postStatus);
  };
  return (
    <WritingBox {...box} max={MAX_LENGTH} variant={`${valueOf(audience)} ${replyPolicy}`} send={send} onSent={onClose} onCancel={onClose}>
      <span className="menus">
        <AudienceMenu value={audience} onChange={setAudience} />
        <ReplyPolicyMenu value={replyPolicy} onChange={setReplyPolicy} />
      </span>
      {children}
    </WritingBox>
  );
}
