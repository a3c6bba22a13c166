import * as z from 'zod';
import { backendDeadlinesSchema } from '../training/deadlines.ts';

/** How long a run over fixed data is, and how long it waits. */
export const updateShape = {
  /** Passes over the data. Default 1, unless `updates` is given. */
  epochs: z.number().positive().optional(),
  /** Optimizer steps of the run, instead of `epochs`. */
  updates: z.int().min(1).optional(),
  /** How long the run waits for the backend. Default `{}`. */
  deadlines: backendDeadlinesSchema.prefault({}),
};

/** Says that `epochs` and `updates` exclude each other. */
export const oneLength = {
  path: ['updates'],
  message: 'must not be given together with epochs: both say how long the run is',
};

/** Whether at most one length is given. */
export function hasOneLength({
  epochs,
  updates,
}: {
  readonly epochs?: unknown;
  readonly updates?: unknown;
}): boolean {
  return epochs === undefined || updates === undefined;
}
