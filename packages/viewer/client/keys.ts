import { useEffect } from 'preact/hooks';
import { shadeNames } from '../src/shades.ts';
import type { Parts } from './parts.ts';

/** What keys act on. */
interface Keyboard extends Parts {
  readonly places: readonly number[];
  readonly open: number | undefined;
}

function acted(key: string, { payload, places, open, route, change }: Keyboard): boolean {
  const at = open === undefined ? -1 : places.indexOf(open);
  const go = (to: number) => {
    const place = places[to];
    if (place !== undefined) change({ id: payload.rows[place]!.id });
    return true;
  };
  if (key === 'j') return go(Math.min(places.length - 1, at + 1));
  if (key === 'k') return go(Math.max(0, at - 1));
  if (key === 'Escape') {
    change(route.view === 'group' ? { view: 'trajectory' } : { id: undefined });
    return true;
  }
  if (key === 'g' && open !== undefined) {
    change({ view: route.view === 'group' ? 'trajectory' : 'group' });
    return true;
  }
  if (key === 'c') {
    change({ colour: shadeNames[(shadeNames.indexOf(route.colour) + 1) % shadeNames.length]! });
    return true;
  }
  if (key !== '/') return false;
  document.getElementById('search')?.focus();
  return true;
}

/** Lets the page be used without a mouse. */
export function useKeys(keyboard: Keyboard): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { target, key } = event;
      if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
        if (key === 'Escape') target.blur();
        return;
      }
      if (acted(key, keyboard)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
