import type { PublicationForm, TokenId, WeightPublication } from '@rlp/core';
import type { JsonClient } from '@rlp/http/client';
import type { ResolvedSampleRequest } from '../sampling/options.ts';

/** Weights in files, which a server can read. */
export type PublicationInFiles = Exclude<WeightPublication, { readonly kind: 'shared' }>;

/** Weights that a request is answered with. */
export interface RemoteWeights {
  readonly version: number;
  /** Name of the model or adapter in requests. */
  readonly model: string;
  /** Publication they came from. `undefined` for those that the server started with. */
  readonly publication?: PublicationInFiles | undefined;
}

/** A request as it goes to a server. */
export interface RemoteRequest extends Omit<ResolvedSampleRequest, 'seed'> {
  /** 32 bits. */
  readonly seed: number;
}

/** Completion as a server gave it, not yet checked. */
export interface RemoteSequence {
  readonly tokens: readonly TokenId[];
  readonly logprobs: readonly number[];
  /** Why the server stopped, in its words. */
  readonly finish: string | null | undefined;
}

/** Logprobs of a sequence's tokens. */
export interface RemoteScores {
  /** Logprob of the token at each position, `undefined` at position 0. */
  readonly logprobs: readonly (number | undefined)[];
  /** Logprobs of the whole vocabulary at each position, if they were asked for. */
  readonly full?: readonly (readonly number[] | undefined)[] | undefined;
}

/** Abilities of a server, as it was started. */
export interface RemoteAbilities {
  /** Forms of publication that it takes. */
  readonly accepts: readonly PublicationForm[];
  /** What to do so that it takes the others. */
  readonly refusals: Readonly<Partial<Record<PublicationForm, string>>>;
  /** Temperature that its logprobs belong to. */
  readonly logprobs:
    | 'at temperature 1, before filters'
    | 'at the sampling temperature, before filters'
    | 'after temperature and filters';
  /** Whether it may score a sequence while it computes anything else. */
  readonly scoring: 'together' | 'alone';
  /** Whether it gives the logprobs of the whole vocabulary. */
  readonly distributions: 'whole' | 'none';
}

/** What a sampling server does, in its own words. {@link RemoteSampler} does the rest. */
export interface RemoteServer {
  /** Such as `vLLM`. */
  readonly name: string;
  readonly client: JsonClient;
  readonly abilities: RemoteAbilities;
  /** How to start it so that its logprobs belong to the sampling temperature. */
  readonly temperatureRemedy: string;
  generate(
    request: RemoteRequest,
    weights: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<readonly RemoteSequence[]>;
  score(
    tokens: readonly TokenId[],
    weights: RemoteWeights,
    options: {
      readonly from: number;
      /** Whether the logprobs of the whole vocabulary are wanted. */
      readonly distributions: 'whole' | 'none';
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<RemoteScores>;
  /** Takes over weights. The old ones stay in force if it rejects. */
  take(
    publication: PublicationInFiles,
    current: RemoteWeights,
    signal: AbortSignal | undefined,
  ): Promise<RemoteWeights>;
  /** Whether the server still has the weights. */
  confirm(weights: RemoteWeights, signal: AbortSignal | undefined): Promise<'held' | 'lost'>;
  /** Frees weights that no request uses any more. */
  release(weights: RemoteWeights): Promise<void>;
}
