import { EnvironmentError, SamplerError, Watchdog } from '@rlp/core';
import { expect, it } from 'vitest';
import { boundaryOf, callSampler, lazily } from './boundary.ts';

const failing = (error: Error) =>
  callSampler(() => Promise.reject(error), {
    signal: new AbortController().signal,
    watchdog: new Watchdog({ timeoutMs: 1000, noteAfterMs: 1000 }),
  }).then(
    () => undefined,
    (reason: unknown) => reason as SamplerError,
  );

it("a sampler's own error comes through as it is", async () => {
  const busy = new SamplerError('busy', { cause: new Error('429') });
  expect(await failing(busy)).toBe(busy);
});

it('any other error is the cause of a SamplerError', async () => {
  const lost = new Error('connection lost');
  const error = await failing(lost);
  expect(error).toBeInstanceOf(SamplerError);
  expect(error).toMatchObject({ message: 'connection lost', cause: lost });
});

it('once aborted, the reason of the signal comes, whatever the sampler does, and nobody is asked', async () => {
  const watchdog = new Watchdog({ timeoutMs: 1000, noteAfterMs: 1000 });
  const aborted = { signal: AbortSignal.abort(new Error('enough')), watchdog };
  await expect(callSampler(() => expect.unreachable(), aborted)).rejects.toThrow('enough');
  const controller = new AbortController();
  const busy = () => {
    controller.abort(new Error('enough'));
    return Promise.reject(new SamplerError('busy'));
  };
  await expect(callSampler(busy, { signal: controller.signal, watchdog })).rejects.toThrow('enough');
});

it('an error has the boundary that it crossed', () => {
  expect(
    [new EnvironmentError('a'), new SamplerError('a'), new Error('a'), undefined].map(boundaryOf),
  ).toEqual([...['environment', 'sampler', undefined, undefined]]);
});

it('a context has what it was given, and the signal of its call', () => {
  const own = new AbortController();
  expect({ ...lazily(own, { tokens: 3 }) }).toEqual({ tokens: 3, signal: own.signal });
  expect(lazily(own).signal).toBe(own.signal);
});
