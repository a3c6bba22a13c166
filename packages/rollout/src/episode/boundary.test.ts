import { SamplerError, Watchdog } from '@rlp/core';
import { expect, it } from 'vitest';
import { callSampler } from './boundary.ts';

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
