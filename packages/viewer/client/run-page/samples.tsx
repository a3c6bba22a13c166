import { useState } from 'preact/hooks';
import type { RunSample, RunView } from '../../src/run-page/view.ts';

/** Responses to one task in every evaluation: how they changed. */
export function Samples({ runs }: { readonly runs: readonly RunView[] }) {
  const all = runs.flatMap(({ name, samples }) => samples.map((sample) => ({ run: name, ...sample })));
  const tasks = [...new Map(all.map((sample) => [sample.task, sample.prompt]))];
  const [chosen, choose] = useState<string>();
  if (tasks.length === 0) return null;
  const task = tasks.some(([task]) => task === chosen) ? chosen : tasks[0]![0];
  const rows = all.filter((sample) => sample.task === task);
  return (
    <>
      <h2>Responses over time</h2>
      <form class="controls" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>Task</span>
          <select id="task" value={task} onChange={(event) => choose(event.currentTarget.value)}>
            {tasks.map(([task, prompt]) => (
              <option key={task} value={task}>
                {oneLine(prompt)}
              </option>
            ))}
          </select>
        </label>
      </form>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls. */}
      <div class="scroll" tabIndex={0}>
        <table class="stack">
          <caption>Responses to the task</caption>
          <thead>
            <tr>
              <th>Run</th>
              <th>Evaluation</th>
              <th>Reward</th>
              <th>Response</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={`${row.run} ${row.evaluation}`} {...row} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Row({ run, evaluation, reward, response }: RunSample & { readonly run: string }) {
  return (
    <tr>
      <th scope="row">{run}</th>
      <td data-label="Evaluation">{evaluation}</td>
      <td data-label="Reward">{reward === null ? 'not scored' : reward.toFixed(2)}</td>
      <td class="text">
        <pre>{response}</pre>
      </td>
    </tr>
  );
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
