import { expect, it } from 'vitest';
import { Stopwatch } from './stopwatch.ts';

it('a stopwatch adds up laps of one name', () => {
  const times = [100, 103, 110, 115];
  const stopwatch = new Stopwatch(() => times.shift()!);
  stopwatch.lap('monitor');
  stopwatch.lap('learn');
  stopwatch.lap('monitor');
  expect(stopwatch.laps).toEqual({ monitor: 3 + 5, learn: 7 });
});

it('a stopwatch without a clock has no laps', () => {
  const stopwatch = new Stopwatch(undefined);
  stopwatch.lap('learn');
  expect(stopwatch.laps).toEqual({});
});
