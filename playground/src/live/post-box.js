// The box for a post. The post itself shows when the stream brings it.
import { send } from '../send.js';
import { request } from './operations.js';
import { WritingBox } from './writing-box.js';

const MOST = 500;

export function postBox(form) {
  return new WritingBox(form, {
    most: MOST,
    async act(message, idempotencyKey) {
      const { data, errors } = await send(request('PostStatus', { message, idempotencyKey }));
      return errors ?? data.postStatus.userErrors;
    },
  });
}
