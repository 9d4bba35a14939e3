// Follows a tag or ends the follow. Returns the message of its errors.
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { TagFollowDocument } from './operations/FollowTag.generated.ts';
import { TagUnfollowDocument } from './operations/UnfollowTag.generated.ts';

export function useFollowTag() {
  const [, follow] = useMutation(TagFollowDocument);
  const [, unfollow] = useMutation(TagUnfollowDocument);
  return async (name: string, isFollowed: boolean): Promise<string> => {
    const { data, error } = await (isFollowed ? follow({ name }) : unfollow({ name }));
    return messageOf(errorMessagesOf(error, data?.result));
  };
}
