import { useEffect, useState } from 'preact/hooks';
import { parametersOf, type Query, queryOf } from '../src/rows.ts';
import { type ShadeName, shadeNames } from '../src/shades.ts';

/** What the address says: what is listed, what is open, and how it is shown. */
export interface Route {
  readonly query: Query;
  /** Id of the open trajectory. */
  readonly id: string | undefined;
  readonly view: 'trajectory' | 'group';
  readonly colour: ShadeName;
}

function current(): Route {
  const parameters = new URLSearchParams(location.hash.slice(1));
  return {
    query: queryOf(parameters),
    id: parameters.get('id') ?? undefined,
    view: parameters.get('view') === 'group' ? 'group' : 'trajectory',
    colour: shadeNames.find((name) => name === parameters.get('colour')) ?? 'nothing',
  };
}

function addressOf({ query, id, view, colour }: Route): string {
  const parameters = new URLSearchParams(parametersOf(query).map(([name, value]) => [name, value]));
  if (id !== undefined) parameters.set('id', id);
  if (view === 'group') parameters.set('view', view);
  if (colour !== 'nothing') parameters.set('colour', colour);
  return `#${parameters}`;
}

/** The route, and a way to change parts of it. What opens or closes a trajectory can be undone with the browser's back button. */
export function useRoute(): readonly [Route, (change: Partial<Route>) => void] {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const read = () => setRoute(current());
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  const change = (part: Partial<Route>) => {
    const next = { ...current(), ...part };
    // Both work in a page that was opened from a file, where the history may not be written.
    if ('id' in part || 'view' in part) location.hash = addressOf(next);
    else location.replace(addressOf(next));
    setRoute(next);
  };
  return [route, change];
}

/** The address of a trajectory. */
export function linkTo(route: Route, id: string): string {
  return addressOf({ ...route, id, view: 'trajectory' });
}
