// The audience of a status as one value of a menu, and its name.
import type { StatusAudience } from '../api/schema.generated.ts';

export interface Audience {
  audience: StatusAudience;
  // Only for `LIST`.
  audienceListId: string | null;
}

export const AUDIENCE_NAMES: Record<Exclude<StatusAudience, 'LIST'>, string> = { PUBLIC: 'Public', FOLLOWERS: 'Followers', FRIENDS: 'Friends' };
export const PUBLIC: Audience = { audience: 'PUBLIC', audienceListId: null };

export function valueOf({ audience, audienceListId }: Audience): string {
  return audience === 'LIST' ? `LIST ${audienceListId ?? ''}` : audience;
}

export function audienceOf(value: string): Audience {
  const [audience, audienceListId = null] = value.split(' ');
  return { audience: audience as StatusAudience, audienceListId };
}

// The name of the list is known to the author only.
export function audienceText(audience: StatusAudience, listName?: string): string {
  if (audience !== 'LIST') return AUDIENCE_NAMES[audience];
  return listName === undefined ? 'Members of a list' : `Members of ${listName}`;
}
