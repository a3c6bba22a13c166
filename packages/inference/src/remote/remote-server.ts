import type { PublicationForm, TokenId, WeightPublication } from '@rlp/core';
import type { JsonClient } from '@rlp/http/client';
import type { ResolvedSampleRequest } from '../sampling/options.ts';

/** Weights in files, which a server can read. */
export type PublicationInFiles = Exclude<WeightPublication, { readonly kind: 'shared' }>;

/** Weights that answer a request. */
export interface RemoteWeights {
  readonly version: number;
  /** Name of the model or adapter in requests. */
  readonly model: string;
  /** Publication that they came from. `undefined` for the weights that the server started with. */
  readonly publication?: PublicationInFiles | undefined;
}

/** A request in the form that a server gets. */
export interface RemoteRequest extends Omit<ResolvedSampleRequest, 'seed'> {
  /** 32 bits. */
  readonly seed: number;
}

/** A server's completion, not yet checked. */
export interface RemoteSequence {
  readonly tokens: readonly TokenId[];
  readonly logprobs: readonly number[];
  /** Why the server stopped, in its own words. */
  readonly finish: string | null | undefined;
}

/** Logprobs of a sequence's tokens. */
export interface RemoteScores {
  /** Logprob of the token at each position. `undefined` at position 0. */
  readonly logprobs: readonly (number | undefined)[];
  /** Logprobs of the whole vocabulary at each position, if requested. */
  readonly full?: readonly (readonly number[] | undefined)[] | undefined;
}

/** Abilities of a server, which follow from how it was started. */
export interface RemoteAbilities {
  /** Forms of publication that it accepts. */
  readonly accepts: readonly PublicationForm[];
  /** How to make it accept the others. */
  readonly refusals: Readonly<Partial<Record<PublicationForm, string>>>;
  /** Temperature that its logprobs belong to. */
  readonly logprobs:
    | 'at temperature 1, before filters'
    | 'at the sampling temperature, before filters'
    | 'after temperature and filters';
  /** Whether it may score a sequence while it computes something else. */
  readonly scoring: 'together' | 'alone';
  /** Whether it returns the logprobs of the whole vocabulary. */
  readonly distributions: 'whole' | 'none';
}

/** Calls of a sampling server in its own protocol. {@link RemoteSampler} does the rest. */
export interface RemoteServer {
  /** Name of the server software, such as `vLLM`. */
  readonly name: string;
  readonly client: JsonClient;
  readonly abilities: RemoteAbilities;
  /** How to start it so that its logprobs belong to the sampling temperature. */
  readonly temperatureRemedy: string;
  /** Samples completions. Attempts of one call pass the same `request`. */
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
  /** Frees weights that no request uses any longer. */
  release(weights: RemoteWeights): Promise<void>;
}
