// The box for a post. Its event adds the post to the list.
import { useState } from 'react';
import { useViewer } from '../session/useSession.ts';
import { StatusBox } from '../statuses/StatusBox.tsx';

export function PostBox() {
  const viewer = useViewer();
  // A draft belongs to the account: another account gets an empty box.
  return viewer && <Box key={viewer.id} />;
}

function Box() {
  const [isHidden, setIsHidden] = useState(false);
  return (
    <div className="post-box">
      <StatusBox
        className="post"
        label="Post"
        field="Message"
        placeholder="What is new?"
        onPosted={(_, { audience }) => setIsHidden(audience !== 'PUBLIC')}
      />
      <p className="hint" role="status" hidden={!isHidden}>
        {isHidden && 'Posted. The public stream does not show it; your home does.'}
      </p>
    </div>
  );
}
