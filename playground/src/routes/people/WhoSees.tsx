// Who sees a status: the response of the server for each viewer, and the line of the policy that decides.
import type { BySide, ShownStatus, Viewer } from './world.ts';

interface Props {
  shown: ShownStatus;
  names: BySide<string>;
  isOpen: boolean;
}

export function WhoSees({ shown: { sights }, names, isOpen }: Props) {
  const nameOf = (viewer: Viewer) => (viewer === 'logged out' ? 'Logged out' : names[viewer]);
  return (
    <details className="who-sees" open={isOpen}>
      <summary>
        Who sees it: {sights.filter(({ sees }) => sees).length} of {sights.length}
      </summary>
      <table>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">Viewer</th>
            <th scope="col">Response of the server</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {sights.map(({ viewer, sees, explanation }) => (
            <tr key={viewer} data-sees={sees}>
              <th scope="row" dir="auto">
                {nameOf(viewer)}
              </th>
              <td className="sight">{sees ? 'sees' : 'does not see'}</td>
              <td className="reason">
                {explanation.reason}
                {explanation.sees !== sees && <strong className="error"> (the server decides otherwise)</strong>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
