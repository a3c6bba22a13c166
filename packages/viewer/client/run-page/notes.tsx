import type { RunNote, RunView } from '../../src/run-page/view.ts';

/** Notes and alerts of all runs. */
export function Notes({ runs }: { readonly runs: readonly RunView[] }) {
  const rows = runs.flatMap(({ name, notes }) => notes.map((note) => ({ run: name, note })));
  if (rows.length === 0) return null;
  return (
    <>
      <h2>Notes and alerts</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls. */}
      <div class="scroll" tabIndex={0}>
        <table class="stack">
          <caption>Notes and alerts</caption>
          <thead>
            <tr>
              <th>Run</th>
              <th>Iterations</th>
              <th>What</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ run, note }) => (
              <tr key={`${run} ${note.rule} ${note.text}`}>
                <th scope="row">{run}</th>
                <td data-label="Iterations">{whenText(note)}</td>
                <td>
                  {note.severity !== undefined && (
                    <>
                      <span class={`badge badge-${note.severity}`}>{note.severity}</span> <b>{note.rule}</b>:{' '}
                    </>
                  )}
                  {note.text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function whenText({ first, last, count }: RunNote): string {
  return count === 1 ? String(first) : `${first} to ${last}, ${count} times`;
}
