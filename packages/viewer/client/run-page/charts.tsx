import { useEffect, useRef, useState } from 'preact/hooks';
import { Chart } from './chart.tsx';
import type { Settings } from './controls.tsx';
import type { DrawnRun } from './drawn-runs.ts';
import type { CurvesByRun, Source } from './source.ts';

/** Metrics that are shown first. */
const first = [
  'evaluation/accuracy',
  'evaluation/reward',
  'reward/mean',
  'loss/sft',
  'loss/policy',
  'loss/preference',
  'kl/reference',
  'entropy/mean',
  'response/tokens',
];

const firstGroup = 'At a glance';

/** Metrics by the part of their names before the first slash. */
function groupsOf(metrics: readonly string[], wanted: string): ReadonlyMap<string, readonly string[]> {
  const text = wanted.trim().toLowerCase();
  if (text !== '')
    return new Map([[firstGroup, metrics.filter((metric) => metric.toLowerCase().includes(text))]]);
  const groups = new Map<string, string[]>([
    [firstGroup, first.filter((metric) => metrics.includes(metric))],
  ]);
  for (const metric of metrics) {
    const [group = ''] = metric.split('/');
    groups.set(group, [...(groups.get(group) ?? []), metric]);
  }
  return groups;
}

/** What the charts are drawn from. */
export interface ChartsProps {
  readonly drawn: readonly DrawnRun[];
  readonly source: Source;
  readonly settings: Settings;
  /** Grows when the curves have changed. */
  readonly version: number;
}

/** Charts of all metrics. Groups are opened one by one, and a chart is drawn when it is seen. */
export function Charts({ metrics, ...props }: ChartsProps & { readonly metrics: readonly string[] }) {
  const groups = [...groupsOf(metrics, props.settings.wanted)];
  return (
    <>
      {groups.map(([group, names], at) =>
        at === 0 ? (
          <div class="charts" key={group}>
            {names.length === 0 && <p class="empty">No metric is called like this.</p>}
            {names.map((metric) => (
              <Seen key={metric} metric={metric} {...props} isFirst />
            ))}
          </div>
        ) : (
          <Group key={group} {...{ ...props, group, names }} />
        ),
      )}
    </>
  );
}

function Group({
  group,
  names,
  ...props
}: ChartsProps & { readonly group: string; readonly names: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {group} ({names.length})
      </summary>
      {isOpen && (
        <div class="charts">
          {names.map((metric) => (
            <Seen key={metric} metric={metric} {...props} />
          ))}
        </div>
      )}
    </details>
  );
}

/** A chart that reads its curves once it comes into view. The first ones do at once, so that they are also printed. */
function Seen({
  metric,
  source,
  version,
  isFirst = false,
  ...rest
}: ChartsProps & { readonly metric: string; readonly isFirst?: boolean }) {
  const box = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(isFirst);
  const [curves, setCurves] = useState<CurvesByRun>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: '400px' },
    );
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!isSeen) return;
    let isOver = false;
    source.curves(metric).then(
      (curves) => !isOver && setCurves(curves),
      (error: unknown) => !isOver && setProblem(`This could not be read: ${String(error)}`),
    );
    return () => {
      isOver = true;
    };
  }, [isSeen, metric, source, version]);
  return (
    <figure ref={box} class="chart">
      <figcaption>
        <h3>{metric}</h3>
      </figcaption>
      {problem !== '' && <p class="problem">{problem}</p>}
      {curves === undefined ? <div class="blank" /> : <Chart {...{ metric, curves, ...rest }} />}
    </figure>
  );
}
