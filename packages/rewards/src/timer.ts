import * as z from 'zod';

/** Schema of a time in milliseconds that a timer can wait. */
export const timerMs = z.number().positive().max(2_147_483_647, 'must fit a timer (2^31 − 1 ms)');
