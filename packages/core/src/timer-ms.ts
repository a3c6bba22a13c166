import * as z from 'zod';

/** Longest wait of a timer in milliseconds: 2³¹ − 1. Timers fire longer ones at once. */
export const longestTimerMs = 2_147_483_647;

/** Schema of a time in milliseconds that a timer can wait. */
export const timerMs = z.number().positive().max(longestTimerMs, 'must fit a timer (2^31 − 1 ms)');
