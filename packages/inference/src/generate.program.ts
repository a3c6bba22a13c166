import type { ScoreRequest, TokenScores } from '@rlp/core';
import type { QuantizedForm } from '@rlp/models/decoder';
import type { CallContext, EngineHost } from '@rlp/onnx/runtime';
import type { TokenLogits } from './backend.ts';
import type { DecoderOptions, ManagedDecoder } from './decoding/cached-decoder.ts';
import { DeviceDecoder } from './decoding/device-decoder.ts';
import { FusedDecoder } from './decoding/fused-decoder.ts';
import { GenerationLoop } from './decoding/generation-loop.ts';
import type { GeneratedGroup, GenerationObserver } from './decoding/groups.ts';
import { PrefixCache } from './decoding/prefix-cache.ts';
import type { SequenceRequest } from './decoding/sequence.ts';
import { StandardDecoder } from './decoding/standard-decoder.ts';
import { WeightWatch } from './decoding/weight-watch.ts';
import { Scorer } from './scoring/scorer.ts';

/** Options that the program starts with. */
export interface GenerationProgramOptions extends DecoderOptions {
  readonly prefillTokens: number;
  readonly promptLookup: number;
  readonly prefixCacheBytes: number;
  readonly scoreTokens: number;
  readonly policyVersion: number;
}

/** Event of a sampled token. */
export interface TokenEvent {
  readonly member: number;
  readonly token: number;
  readonly logprob: number;
}

/** Methods of the generation program. */
export type GenerationProgram = {
  /**
   * Completes one prompt, starting with the next `begin`, so that requests made together start together. Emits a {@link TokenEvent} for
   * each token if events are wanted.
   */
  generate(
    argument: {
      readonly id: number;
      readonly request: SequenceRequest;
      readonly events: 'tokens' | 'none';
    },
    call: CallContext,
  ): Promise<GeneratedGroup>;
  /** Starts the requests that arrived since the last call. */
  begin(argument: undefined, call: CallContext): void;
  /** Ends one completion of a request early. */
  finish(argument: { readonly id: number; readonly member: number }, call: CallContext): void;
  /** Weights in the store have changed. */
  refresh(argument: { readonly version: number }, call: CallContext): Promise<void>;
  score(
    argument: { readonly requests: readonly ScoreRequest[]; readonly temperature: number },
    call: CallContext,
  ): Promise<readonly TokenScores[]>;
  scoreLogits(
    argument: { readonly requests: readonly ScoreRequest[] },
    call: CallContext,
  ): Promise<readonly TokenLogits[]>;
  /** How the store holds the linear layers. */
  base(argument: undefined, call: CallContext): QuantizedForm | 'float32';
  close(argument: undefined, call: CallContext): Promise<void>;
};

/** Runs inside the engine: prefill, decoding, sampling and scoring. Only tokens and their numbers leave it. */
export default async function startGeneration(
  host: EngineHost,
  options: GenerationProgramOptions,
): Promise<GenerationProgram> {
  const decoder = await prepareDecoder(host, options);
  const scorer = new Scorer(host, options);
  const watch = new WeightWatch(host, options.store);
  const loop = new GenerationLoop(decoder, {
    yield: () => host.yield(),
    prefillTokens: options.prefillTokens,
    promptLookup: options.promptLookup,
    prefixes: new PrefixCache(decoder, { bytes: options.prefixCacheBytes }),
    weightsChanged: () => watch.changed(),
    policyVersion: options.policyVersion,
  });
  const observers = new Map<number, GenerationObserver>();
  const line = new StartingLine();
  return {
    async generate({ id, request, events }, { signal, emit }) {
      const observer = { signal, onToken: events === 'tokens' ? emit : undefined };
      observers.set(id, observer);
      try {
        await line.wait();
        return await loop.submit(request, observer);
      } finally {
        observers.delete(id);
      }
    },
    begin: () => line.begin(),
    finish: ({ id, member }) => loop.finish(observers.get(id), member),
    refresh: ({ version }) =>
      loop.exclusively(async () => {
        await decoder.refresh();
        loop.setPolicyVersion(version);
      }),
    score: ({ requests, temperature }, { signal }) => scorer.score(requests, temperature, signal),
    scoreLogits: ({ requests }, { signal }) => scorer.logits(requests, signal),
    base: () => scorer.form,
    async close() {
      await decoder.close();
      await scorer.close();
    },
  };
}

async function prepareDecoder(host: EngineHost, options: GenerationProgramOptions): Promise<ManagedDecoder> {
  const onHost = options.operators === 'fused' ? FusedDecoder : StandardDecoder;
  const Decoder = host.residency === 'device' ? DeviceDecoder : onHost;
  const decoder = new Decoder(host, options);
  try {
    await decoder.prepare();
    return decoder;
  } catch (error) {
    await decoder.close();
    throw error;
  }
}

/** Holds requests until the signal to begin. */
class StartingLine {
  readonly #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  begin(): void {
    for (const start of this.#waiting.splice(0)) start();
  }
}
