// A status and its like.
import { graphql, useFragment, useMutation } from 'react-relay';
import type { StatusLineLikeMutation } from './__generated__/StatusLineLikeMutation.graphql';
import type { StatusLine_status$key } from './__generated__/StatusLine_status.graphql';

export function StatusLine({ status }: { status: StatusLine_status$key }) {
  const { id, message, likeCount, viewerHasLiked, author } = useFragment(
    graphql`
      fragment StatusLine_status on Status {
        id
        message
        likeCount
        viewerHasLiked
        author {
          login
        }
      }
    `,
    status,
  );
  const [like] = useMutation<StatusLineLikeMutation>(graphql`
    mutation StatusLineLikeMutation($statusId: ID!) {
      likeStatus(input: { statusId: $statusId }) {
        status {
          likeCount
          viewerHasLiked
        }
      }
    }
  `);
  return (
    <li>
      {author.login}: {message}{' '}
      <button aria-pressed={viewerHasLiked} onClick={() => like({ variables: { statusId: id } })}>
        Like ({likeCount})
      </button>
    </li>
  );
}
