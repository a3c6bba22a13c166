import type { Fetch } from './client/fetch.ts';

/** The platform's `fetch` is as good in a browser. */
export const pooledFetch: Fetch | undefined = undefined;
