import { expect, it } from 'vitest';
import { TokenMeter } from './token-meter.ts';

it('counts tokens per second from the first on, and then over the last ten seconds', () => {
  let now = 5000;
  const meter = new TokenMeter(() => now);
  expect(meter.perSecond).toBeUndefined();
  meter.add(100);
  expect(meter.perSecond).toBeUndefined();
  now += 2000;
  meter.add(60);
  expect(meter.perSecond).toBe(80);
  now += 8000;
  expect(meter.perSecond).toBe(16);
  now += 1;
  expect(meter.perSecond).toBe(6);
  now += 2000;
  expect(meter.perSecond).toBe(0);
});

it('forgets tokens by half a second', () => {
  let now = 0;
  const meter = new TokenMeter(() => now);
  for (; now < 2000; now += 100) meter.add(1);
  now = 10_000;
  expect(meter.perSecond).toBe(2);
  now = 10_001;
  expect(meter.perSecond).toBe(1.5);
  now = 10_501;
  expect(meter.perSecond).toBe(1);
  meter.add(1);
  expect(meter.perSecond).toBe(1.1);
});

it('counts nothing without a clock', () => {
  const meter = new TokenMeter(undefined);
  meter.add(5);
  expect(meter.perSecond).toBeUndefined();
});

it('counts tokens that are exactly ten seconds old, also when others come', () => {
  let now = 0;
  const meter = new TokenMeter(() => now);
  meter.add(10);
  now = 10_000;
  meter.add(10);
  expect(meter.perSecond).toBe(2);
  now = 10_001;
  expect(meter.perSecond).toBe(1);
});

it('keeps tokens of half a second together, and those of the next apart', () => {
  let now = 0;
  const meter = new TokenMeter(() => now);
  for (const atMs of [0, 499, 500]) {
    now = atMs;
    meter.add(1);
  }
  now = 10_400;
  // Those of 499 ms went with those of 0 ms.
  expect(meter.perSecond).toBe(0.1);
});
