// Takes a deleted status out of the home's connection.
import { ConnectionHandler } from 'relay-runtime';
import type { RecordSourceSelectorProxy } from 'relay-runtime';

export function removeFromHome(store: RecordSourceSelectorProxy, statusId: string) {
  const home = store.getRoot().getLinkedRecord('homeTimeline');
  const entries = home && ConnectionHandler.getConnection(home, 'Home_entries');
  for (const edge of entries?.getLinkedRecords('edges') ?? []) {
    const entry = edge.getLinkedRecord('node');
    if (entries && entry?.getLinkedRecord('status')?.getDataID() === statusId) ConnectionHandler.deleteNode(entries, entry.getDataID());
  }
}
