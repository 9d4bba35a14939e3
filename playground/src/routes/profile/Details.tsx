// The details of a profile that the viewer can see. Pictures of other servers are links: the page loads nothing from elsewhere.
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import type { DetailAudience } from '../../api/schema.generated.ts';
import { Time } from '../../ui/Time.tsx';
import { ProfileAudiencesDocument } from './operations/ProfileAudiences.generated.ts';
import type { ProfileDetailsFragment } from './operations/Profile.generated.ts';

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' });
const AUDIENCES: Record<DetailAudience, string> = { NOBODY: 'Only you see it', FRIENDS: 'Friends see it', EVERYONE: 'Everyone sees it' };

interface Props {
  user: ProfileDetailsFragment;
  isOwn: boolean;
}

export function Details({ user, isOwn }: Props) {
  const [{ data }] = useQuery({ query: ProfileAudiencesDocument, pause: !isOwn, requestPolicy: 'cache-and-network' });
  const audiences = data?.viewerAccount;
  const rows: [term: string, value: ReactNode, audience?: DetailAudience][] = [
    ['Location', user.location && <span dir="auto">{user.location}</span>],
    ['Gender', user.gender && <span dir="auto">{user.gender}</span>],
    ['Website', user.websiteUrl && <Url url={user.websiteUrl} />],
    ['Avatar', user.avatarUrl && <Url url={user.avatarUrl} />],
    ['Banner', user.bannerUrl && <Url url={user.bannerUrl} />],
    ['Born', user.birthDate && <time dateTime={user.birthDate}>{DATE.format(new Date(user.birthDate))}</time>, audiences?.showBirthDate],
    ['Age', user.age, audiences?.showAge],
    ['Last post', user.lastPostedAt && <Time at={user.lastPostedAt} />],
  ];
  const shown = rows.filter(([, value]) => value != null);
  if (shown.length === 0) return null;
  return (
    <dl className="details">
      {shown.map(([term, value, audience]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>
            {value} {audience && <span className="mark">{AUDIENCES[audience]}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

// The server accepts https alone.
const Url = ({ url }: { url: string }) => (
  <a href={url} rel="noopener noreferrer nofollow ugc" target="_blank">
    {url.replace(/^https:\/\//, '')}
  </a>
);
