import { FakeDecoder } from '../testing/fake-decoder.ts';
import type { CachedDecoder } from './cached-decoder.ts';
import { GenerationLoop } from './generation-loop.ts';
import { PrefixCache } from './prefix-cache.ts';
import type { SequenceRequest } from './sequence.ts';

export const end = 0;

export function request(change: Partial<SequenceRequest> = {}): SequenceRequest {
  return {
    prompt: [1, 2, 3],
    count: 1,
    maxTokens: 8,
    temperature: 1,
    repetitionPenalty: 1,
    topK: 0,
    topP: 1,
    minP: 0,
    stopTokens: [end],
    seed: 'seed',
    ...change,
  };
}

interface Start {
  /** Blocks of two tokens that are kept. Default none. */
  readonly blocks?: number;
  readonly weightsChanged?: () => boolean;
  readonly promptLookup?: number;
  readonly prefillTokens?: number;
  readonly policyVersion?: number;
}

export function start(decoder: CachedDecoder, options: Start = {}) {
  const { blocks = 0, weightsChanged = () => false, promptLookup = 0 } = options;
  const { prefillTokens = 16, policyVersion = 0 } = options;
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const prefixes = new PrefixCache(decoder, { bytes: 8 * blocks, blockTokens: 2 });
  return new GenerationLoop(decoder, {
    yield: turn,
    ...{ prefillTokens, promptLookup, prefixes, weightsChanged, policyVersion },
  });
}

export const untroubled = () => ({ signal: new AbortController().signal });

export async function alone(one: SequenceRequest) {
  return start(new FakeDecoder(1)).submit(one, untroubled());
}
