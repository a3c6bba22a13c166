import { OptionsError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { resolveSampleRequest } from './options.ts';

const request = { prompt: [0, 5], count: 1, maxTokens: 4, seed: 's' };

describe('resolveSampleRequest', () => {
  it('fills in what is off by default, and leaves out signal and callback', () => {
    const signal = new AbortController().signal;
    const resolved = resolveSampleRequest({ ...request, signal, onToken: () => undefined });
    expect(resolved).toEqual({
      ...{ ...request, temperature: 1, repetitionPenalty: 1, topK: 0, topP: 1, minP: 0 },
      ...{ stopTokens: [], stopStrings: [] },
    });
    expect(resolved.prompt).not.toBe(request.prompt);
  });

  it.each([[[-1]], [[0.5]], [[0, Number.NaN]], ['text'], [undefined]])('refuses the prompt %o', (prompt) => {
    const resolving = () => resolveSampleRequest({ ...request, prompt } as never);
    expect(resolving).toThrow(OptionsError);
    expect(resolving).toThrow(/^sample: invalid options.*\n {2}- prompt/);
  });

  it.each([
    [{ temperature: 1e-6 }, 'temperature: must be 0, which takes the most likely token, or at least 0.00001'],
    [{ temperature: -1 }, 'temperature: must be 0'],
    [{ repetitionPenalty: 0.9 }, 'repetitionPenalty'],
    [{ topP: 0 }, 'topP'],
    [{ stopStrings: [''] }, 'stopStrings'],
    [{ count: 0 }, 'count'],
  ])('refuses %o', (change, message) => {
    expect(() => resolveSampleRequest({ ...request, ...change })).toThrow(/^sample: invalid options/);
    expect(() => resolveSampleRequest({ ...request, ...change })).toThrow(message);
  });

  it('takes the smallest temperature, and 0', () => {
    for (const temperature of [0, 1e-5]) {
      expect(resolveSampleRequest({ ...request, temperature }).temperature).toBe(temperature);
    }
  });
});
