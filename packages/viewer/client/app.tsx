import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Payload } from '../src/payload.ts';
import { everything, selectRows } from '../src/rows.ts';
import { Filters } from './filters.tsx';
import { GroupView } from './group.tsx';
import { useKeys } from './keys.ts';
import { List } from './list.tsx';
import type { Parts } from './parts.ts';
import { useRoute } from './route.ts';
import { searchBodies } from './store.ts';
import { TrajectoryView } from './trajectory.tsx';

/** What is known of the search for a text. */
interface Search {
  readonly text: string;
  readonly mentioned: ReadonlySet<number>;
  /** How much was searched, from 0 to 1. */
  readonly share: number;
}

const nothing: Search = { text: '', mentioned: new Set(), share: 1 };

/** Searches all messages once nobody typed for a moment. */
function useSearch(payload: Payload, text: string): Search {
  const [search, setSearch] = useState(nothing);
  useEffect(() => {
    if (text === '') return setSearch(nothing);
    const stop = new AbortController();
    setSearch({ text, mentioned: new Set(), share: 0 });
    const found = (mentioned: ReadonlySet<number>, share: number) => setSearch({ text, mentioned, share });
    const timer = setTimeout(() => searchBodies(payload, text, { found, signal: stop.signal }), 250);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [payload, text]);
  return search;
}

/** The place of the trajectory that the address names. */
function placeOf({ rows }: Payload, id: string | undefined): number | undefined {
  const place = id === undefined ? -1 : rows.findIndex((row) => row.id === id);
  return place < 0 ? undefined : place;
}

/** The whole page. */
export function App({ payload }: { readonly payload: Payload }) {
  const [route, change] = useRoute();
  const search = useSearch(payload, route.query.text);
  const places = useMemo(
    () => selectRows(payload.rows, route.query, search.mentioned),
    [payload, route.query, search],
  );
  const open = placeOf(payload, route.id);
  useKeys({ payload, places, open, route, change });
  return (
    <div class={open === undefined ? 'app' : 'app with-open'}>
      <section class="side" aria-label="Trajectories">
        <Filters payload={payload} route={route} change={change} shown={places.length} share={search.share} />
        <List payload={payload} places={places} open={open} change={change} />
      </section>
      <section class="detail" aria-label="Trajectory">
        <Detail payload={payload} open={open} route={route} change={change} />
      </section>
    </div>
  );
}

function Detail({ payload, open, route, change }: Parts & { readonly open: number | undefined }) {
  if (open === undefined) return <Welcome payload={payload} change={change} missing={route.id} />;
  const parts = { payload, route, change, place: open };
  return route.view === 'group' ? <GroupView {...parts} /> : <TrajectoryView {...parts} />;
}

const keys = [
  ['j, k', 'next and previous trajectory'],
  ['g', 'its group, side by side'],
  ['c', 'the next colour of tokens'],
  ['/', 'search'],
  ['Escape', 'back to the list'],
] as const;

function Welcome({
  payload,
  change,
  missing,
}: Pick<Parts, 'payload' | 'change'> & { readonly missing: string | undefined }) {
  return (
    <div class="welcome">
      {missing !== undefined && <p class="problem">No trajectory here has the id “{missing}”.</p>}
      <Alerts payload={payload} change={change} />
      <p>Choose a trajectory from the list.</p>
      <dl class="keys">
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** What a monitor found. A click lists the trajectories that show it. */
function Alerts({ payload: { alerts, rows }, change }: Pick<Parts, 'payload' | 'change'>) {
  if (alerts.length === 0) return null;
  const show = (place: number) => {
    const { iteration } = alerts[place]!;
    const isMarked = rows.some((row) => row.alerts.includes(place));
    const isTold = rows.some((row) => row.iteration === iteration);
    change({
      query: { ...everything, only: isMarked ? 'alerts' : 'any', iteration: isTold ? iteration : undefined },
    });
  };
  return (
    <div class="alerts">
      <h2>Alerts</h2>
      {alerts.map(({ rule, severity, message, iteration }, place) => (
        <button type="button" key={`${rule}${iteration}${place}`} onClick={() => show(place)}>
          <span class={`badge badge-${severity}`}>{severity}</span> <b>{rule}</b> in iteration {iteration}:{' '}
          {message}
        </button>
      ))}
    </div>
  );
}
