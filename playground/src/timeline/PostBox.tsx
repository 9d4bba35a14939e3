// The box for a post. Its event adds the post to the list.
import { useMutation } from 'urql';
import { errorMessagesOf } from '../api/errorMessages.ts';
import { useViewer } from '../session/useSession.ts';
import { WritingBox } from '../ui/WritingBox.tsx';
import { TimelinePostStatusDocument } from './operations/PostStatus.generated.ts';

const MAX_LENGTH = 500;

export function PostBox() {
  const viewer = useViewer();
  const [, post] = useMutation(TimelinePostStatusDocument);
  if (!viewer) return null;
  const send = async (message: string, idempotencyKey: string) => {
    const { data, error } = await post({ message, idempotencyKey });
    return errorMessagesOf(error, data?.postStatus);
  };
  // A draft belongs to the account: another account gets an empty box.
  return <WritingBox key={viewer.id} className="post" label="Post" field="Message" placeholder="What is new?" max={MAX_LENGTH} send={send} />;
}
