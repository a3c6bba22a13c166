import type { RunView } from '../../src/run-page/view.ts';

/** Options in which the runs differ. */
export function Differences({ runs }: { readonly runs: readonly RunView[] }) {
  if (runs.length < 2) return null;
  const places = [...new Set(runs.flatMap(({ configuration }) => Object.keys(configuration)))].sort();
  const different = places.filter(
    (place) => new Set(runs.map(({ configuration }) => configuration[place])).size > 1,
  );
  return (
    <>
      <h2>Differences</h2>
      {different.length === 0 ? (
        <p class="empty">The configurations of these runs are equal.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls.
        <div class="scroll" tabIndex={0}>
          <table>
            <caption>Options in which the runs differ</caption>
            <thead>
              <tr>
                <th>Option</th>
                {runs.map(({ name }) => (
                  <th key={name}>{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {different.map((place) => (
                <tr key={place}>
                  <th scope="row">{place}</th>
                  {runs.map(({ name, configuration }) => (
                    <td key={name}>{configuration[place] ?? ''}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
