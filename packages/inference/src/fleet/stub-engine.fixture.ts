import {
  ArgumentError,
  type Completion,
  RandomStream,
  type SampleRequest,
  SamplerError,
  type ScoreRequest,
  type WeightPublication,
} from '@rlp/core';

/** An engine whose only token says which weights it has. */
export class StubEngine {
  readonly accepts = ['adapter'] as const;
  readonly vocabularySize = 100;
  readonly requests: SampleRequest[] = [];
  policyVersion = 0;
  /** Weights that it computes with. */
  weights = 0;
  mode: 'up' | 'down' | 'keeps old weights' | 'reports another version' = 'up';
  busyMs = 0;
  /** Updates that it was asked for. */
  updates = 0;

  /** Ends it, and starts it again without its weights. */
  kill(): void {
    this.mode = 'down';
    this.weights = 0;
  }

  async sample(request: SampleRequest): Promise<readonly Completion[]> {
    request.signal?.throwIfAborted();
    if (request.prompt.length > 8)
      throw new ArgumentError(`sample: ${request.prompt.length} tokens do not fit`);
    this.requests.push(request);
    if (this.busyMs > 0) await new Promise((resolve) => setTimeout(resolve, this.busyMs));
    if (this.mode === 'down') throw new SamplerError('fetch failed');
    return Array.from({ length: request.count }, (_, member) => {
      const random = RandomStream.named(request.seed, member);
      const drawn = Array.from({ length: Math.min(3, request.maxTokens) }, () => random.integer(20));
      const stop = drawn.findIndex((token) => request.stopTokens?.includes(token));
      const tokens = stop < 0 ? drawn : drawn.slice(0, stop + 1);
      if (request.onToken) for (const token of tokens) request.onToken({ member, token, logprob: -1 });
      return {
        ...{ tokens, behaviorLogprobs: tokens.map(() => -1), text: '', policyVersion: this.policyVersion },
        stopReason: stop < 0 ? ('length' as const) : ('stop' as const),
      };
    });
  }

  async scoreTokens(requests: readonly ScoreRequest[]) {
    if (this.mode === 'down') throw new SamplerError('fetch failed');
    return requests.map(({ completion }) => ({
      logprobs: Float32Array.from(completion, () => -1 - 0.5 * this.weights),
      entropies: Float32Array.from(completion, () => 0),
    }));
  }

  async updateWeights({ version, ...publication }: WeightPublication, signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    this.updates += 1;
    if (this.mode === 'down') throw new SamplerError('fetch failed');
    if ('path' in publication && publication.path === 'missing') throw new SamplerError('no such directory');
    if (this.mode === 'reports another version') return version - 1;
    if (this.mode !== 'keeps old weights') this.weights = version;
    this.policyVersion = version;
    return version;
  }
}

export const published = (version: number): WeightPublication => ({
  kind: 'adapter',
  version,
  path: `v${version}`,
});
export const engines = (count: number) => Array.from({ length: count }, () => new StubEngine());
