// Reads one campaign with its figures. If a read fails, the error is shown and the last result stays.
import { useEffect, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { errorMessagesOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { AdsCampaignDocument, type AdsCampaignQuery } from './operations/Campaign.generated.ts';

export type CampaignWithReport = Extract<AdsCampaignQuery['node'], { __typename: 'Campaign' }>;

const GONE: ErrorMessage[] = [{ message: 'There is no such campaign, or it is not yours.', path: [] }];

export function useCampaign(id: string, days: number) {
  const client = useClient();
  const variables = { id, days };
  const [{ data, error, fetching }] = useQuery({ query: AdsCampaignDocument, variables, requestPolicy: 'network-only' });
  const [failed, setFailed] = useState<ErrorMessage[]>([]);
  const [updatedAt, setUpdatedAt] = useState(() => new Date());
  const shown = useRef<CampaignWithReport | null>(null);
  const found = data?.node?.__typename === 'Campaign' ? data.node : null;
  if (found) shown.current = found;
  useEffect(() => void (found && setUpdatedAt(new Date())), [found]);

  const refresh = async () => {
    const { error } = await client.query(AdsCampaignDocument, variables, { requestPolicy: 'network-only' }).toPromise();
    setFailed(errorMessagesOf(error));
    if (!error) setUpdatedAt(new Date());
  };
  const isMissing = !fetching && !error && data && !found;
  const errors = failed.length > 0 ? failed : isMissing ? GONE : shown.current ? [] : errorMessagesOf(error);
  return { campaign: shown.current, errors, updatedAt, refresh };
}
