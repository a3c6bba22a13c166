import { useState } from 'preact/hooks';
import type { RunsView, RunView } from '../../src/run-page/view.ts';
import type { DrawnRun } from './drawn-runs.ts';
import type { Source } from './source.ts';

/** A drawn run, and whether its curves are shown. */
interface Shown extends DrawnRun {
  readonly isShown: boolean;
}

/** The runs: what they do, how far they are. It is the legend of all charts. */
export function RunTable({
  view: { runs },
  drawn,
  toggle,
  source,
}: {
  readonly view: RunsView;
  readonly drawn: readonly Shown[];
  readonly toggle: (name: string) => void;
  readonly source: Source;
}) {
  if (runs.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: It scrolls.
    <div class="scroll" tabIndex={0}>
      <table class="stack runs">
        <caption>Runs</caption>
        <thead>
          <tr>
            <th>Shown</th>
            <th>Run</th>
            <th>Status</th>
            <th>Iterations</th>
            <th>Time</th>
            <th>Seed</th>
            <th>Machine</th>
          </tr>
        </thead>
        <tbody>
          {drawn.flatMap((each) =>
            each.runs.map((run, at) => (
              <tr key={run.name}>
                <td>{at === 0 && <Key drawn={each} toggle={toggle} />}</td>
                <th scope="row">
                  <Name run={run} source={source} />
                </th>
                <td data-label="Status">
                  {[run.mode, run.status].filter(Boolean).join(', ') || 'unknown'}
                  {run.problem !== undefined && <p class="problem">{run.problem}</p>}
                </td>
                <td data-label="Iterations">{run.isReading ? 'reading…' : run.iterations}</td>
                <td data-label="Time">{run.seconds === undefined ? '' : timeText(run.seconds)}</td>
                <td data-label="Seed">{run.seed ?? ''}</td>
                <td data-label="Machine">{run.host ?? ''}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Key({ drawn, toggle }: { readonly drawn: Shown; readonly toggle: (name: string) => void }) {
  const { name, colour, dash, isShown, runs } = drawn;
  return (
    <label class="key">
      <input type="checkbox" checked={isShown} onChange={() => toggle(name)} aria-label={`Show ${name}`} />
      <span class={`series-${colour} swatch${dash > 0 ? ' dashed' : ''}`} />
      {runs.length > 1 && <span>{runs.length} seeds</span>}
    </label>
  );
}

/** Name of a run, and the way to its trajectories. */
function Name({ run, source }: { readonly run: RunView; readonly source: Source }) {
  const [status, setStatus] = useState('');
  const open = async () => {
    setStatus('Opening…');
    try {
      location.assign(await source.trajectories!(run.name));
    } catch (error) {
      setStatus(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      {run.name}{' '}
      {run.hasTrajectories && source.trajectories && (
        <button type="button" class="small" onClick={() => void open()}>
          Trajectories
        </button>
      )}
      {status !== '' && <span role="status"> {status}</span>}
    </>
  );
}

/** A time in the largest two units. */
function timeText(seconds: number): string {
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
}
