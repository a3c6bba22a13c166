import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunsView } from '../../src/run-page/view.ts';
import { Charts } from './charts.tsx';
import { Controls, type Settings } from './controls.tsx';
import { Differences } from './differences.tsx';
import { drawnRuns } from './drawn-runs.ts';
import { Notes } from './notes.tsx';
import { RunTable } from './run-table.tsx';
import { Samples } from './samples.tsx';
import { Scores } from './scores.tsx';
import type { Source } from './source.ts';

/** Draws again at most this often, in milliseconds. */
const pause = 1000;
/** Longest time between two looks at runs that are still being read. Drawing takes processor time that reading needs. */
const longestPause = 8000;

/** The view, read again whenever it changes, and until the server has read all runs. */
function useView(source: Source, first: RunsView) {
  const [state, setState] = useState({ view: first, version: 0 });
  const [status, setStatus] = useState('');
  const isWaiting = useRef(false);
  const looks = useRef(0);
  const read = async () => {
    if (isWaiting.current) return;
    isWaiting.current = true;
    await new Promise((resolve) => setTimeout(resolve, pause));
    isWaiting.current = false;
    const view = await source.view();
    setState(({ version }) => ({ view, version: version + 1 }));
  };
  const changed = () =>
    void read().catch((error: unknown) => setStatus(`This could not be read: ${String(error)}`));
  const unread = state.view.runs.filter(({ isReading }) => isReading).length;
  useEffect(() => source.follow?.(changed, setStatus), [source]);
  useEffect(() => {
    if (!source.isLive || unread === 0) return;
    const timer = setTimeout(changed, Math.min(250 * 2 ** looks.current++, longestPause));
    return () => clearTimeout(timer);
  }, [source, unread, state.version]);
  const isOverview = state.view.runs.some(({ isOverview }) => isOverview);
  const progress = [
    unread > 0 && `${unread} of ${state.view.runs.length} runs are still being read.`,
    isOverview && 'Until then their curves are an overview and may miss extremes.',
  ];
  return { ...state, status: [...progress, status].filter(Boolean).join(' ') };
}

/** The whole page. */
export function App({ source, first }: { readonly source: Source; readonly first: RunsView }) {
  const { view, version, status } = useView(source, first);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [settings, setSettings] = useState<Settings>({ axis: 'step', smoothing: 0, bands: true, wanted: '' });
  const drawn = useMemo(() => drawnRuns(view.runs, settings.bands), [view, settings.bands]);
  const shown = useMemo(
    () => drawn.map((each) => ({ ...each, isShown: !hidden.has(each.name) })),
    [drawn, hidden],
  );
  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  return (
    <>
      {status !== '' && <p role="status">{status}</p>}
      {view.problems.map((problem) => (
        <p class="problem" key={problem}>
          {problem}
        </p>
      ))}
      {view.runs.length === 0 && <p class="empty">There are no runs here yet. `rlp train` makes them.</p>}
      <RunTable view={view} drawn={shown} toggle={toggle} source={source} />
      <Scores runs={view.runs} />
      {view.metrics.length > 0 && (
        <>
          <h2>Curves</h2>
          <Controls settings={settings} change={(part) => setSettings({ ...settings, ...part })} />
          <Charts
            metrics={view.metrics}
            drawn={shown.filter(({ isShown }) => isShown)}
            {...{ source, settings, version }}
          />
        </>
      )}
      <Differences runs={view.runs} />
      <Notes runs={view.runs} />
      <Samples runs={view.runs} />
    </>
  );
}
