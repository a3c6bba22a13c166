import type { RunScore, RunView } from '../../src/run-page/view.ts';

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Evaluations of all runs with their confidence intervals, the last of each run first. */
export function Scores({ runs }: { readonly runs: readonly RunView[] }) {
  const rows = runs.flatMap(({ name, scores }) => scores.map((score) => ({ run: name, score })));
  if (rows.length === 0) return null;
  return (
    <>
      <h2>Evaluations</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls. */}
      <div class="scroll" tabIndex={0}>
        <table class="stack">
          <caption>Evaluations</caption>
          <thead>
            <tr>
              <th>Run</th>
              <th>Evaluation</th>
              <th>Accuracy</th>
              <th>Interval</th>
              <th>Reward</th>
              <th>Tasks</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ run, score }) => (
              <tr key={`${run} ${score.name}`}>
                <th scope="row">{run}</th>
                <td data-label="Evaluation">{score.name}</td>
                <td data-label="Accuracy">{score.accuracy === undefined ? '' : percent(score.accuracy)}</td>
                <td>
                  <Interval {...score} />
                </td>
                <td data-label="Reward">{intervalText(score)}</td>
                <td data-label="Tasks">{score.tasks}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** A mean reward with its interval, such as `0.412 (0.350 to 0.474)`. */
function intervalText({ reward }: RunScore): string {
  if (reward === undefined) return '';
  const { value, low, high } = reward;
  const ends = low === undefined || high === undefined ? '' : ` (${low.toFixed(3)} to ${high.toFixed(3)})`;
  return value.toFixed(3) + ends;
}

/** An interval on a line from 0 to 100 %. */
function Interval({ accuracy, low, high }: RunScore) {
  if (accuracy === undefined || low === undefined || high === undefined) return null;
  const text = `${percent(low)} to ${percent(high)}`;
  return (
    <div class="interval" role="img" aria-label={text} title={text}>
      <i style={{ left: `${100 * low}%`, width: `${Math.max(0.5, 100 * (high - low))}%` }} />
      <b style={{ left: `${100 * accuracy}%` }} />
    </div>
  );
}
