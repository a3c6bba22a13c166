import type { Payload } from '../src/payload.ts';
import type { Route } from './route.ts';

/** What every part of the page is given. */
export interface Parts {
  readonly payload: Payload;
  readonly route: Route;
  readonly change: (part: Partial<Route>) => void;
}
