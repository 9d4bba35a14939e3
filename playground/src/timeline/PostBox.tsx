// The box for a post. Its event adds the post to the list.
import { useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../api/errorMessages.ts';
import { useViewer } from '../session/useSession.ts';
import { PUBLIC, valueOf } from '../statuses/audience.ts';
import { AudienceMenu } from '../statuses/AudienceMenu.tsx';
import { WritingBox } from '../ui/WritingBox.tsx';
import { TimelinePostStatusDocument } from './operations/PostStatus.generated.ts';

const MAX_LENGTH = 500;

export function PostBox() {
  const viewer = useViewer();
  // A draft belongs to the account: another account gets an empty box.
  return viewer && <Box key={viewer.id} />;
}

function Box() {
  const [, post] = useMutation(TimelinePostStatusDocument);
  const [audience, setAudience] = useState(PUBLIC);
  const [notice, setNotice] = useState('');
  const send = async (message: string, idempotencyKey: string) => {
    const { data, error } = await post({ message, ...audience, idempotencyKey });
    const errors = errorMessagesOf(error, data?.postStatus);
    setNotice(errors.length === 0 && audience.audience !== 'PUBLIC' ? 'Posted. The public stream does not show it; your home does.' : '');
    return errors;
  };
  return (
    <div className="post-box">
      <WritingBox className="post" label="Post" field="Message" placeholder="What is new?" max={MAX_LENGTH} variant={valueOf(audience)} send={send}>
        <AudienceMenu value={audience} onChange={setAudience} />
      </WritingBox>
      <p className="hint" role="status" hidden={!notice}>
        {notice}
      </p>
    </div>
  );
}
