import type {
  CheckpointBackend,
  InferenceEngine,
  OptimStepResult,
  Sampler,
  ScoreRequest,
  TokenScorer,
  TrainFuture,
} from '@rlp/core';
import type { AdamParams } from './wire.ts';

/** What a client wants to train. */
export interface PolicySettings {
  /** Name of the policy, unique in the folder of the server. */
  readonly name: string;
  /** Rank of the correction. 0 trains every weight. */
  readonly rank: number;
  /** Seed of the initial correction. */
  readonly seed: number;
  /** Whether the attention layers are trained. */
  readonly attention: 'trained' | 'frozen';
  /** Whether the MLP layers are trained. */
  readonly mlp: 'trained' | 'frozen';
}

/** A policy that a client trains. */
export interface HostedPolicy
  extends Pick<CheckpointBackend, 'forwardBackward' | 'logprobs' | 'publish' | 'saveCheckpoint' | 'close'> {
  /** Makes one update with the client's settings. */
  update(adam: AdamParams): TrainFuture<OptimStepResult>;
  loadCheckpoint(directory: string, options: { readonly optimizer: 'restored' | 'fresh' }): TrainFuture<void>;
}

/** A sampler whose weights the server exchanges. */
export interface HostedSampler extends Sampler, TokenScorer, Pick<InferenceEngine, 'updateWeights'> {
  readonly contextLength: number;
  /** Tokens that the model knows. */
  readonly vocabularySize: number;
  scoreLogits(
    requests: readonly ScoreRequest[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly { readonly logits: Float32Array; readonly vocabularySize: number }[]>;
  close(): Promise<void>;
}

/** What trains and samples for clients of Tinker's protocol. {@link onnxTinkerTrainer} makes one on ONNX Runtime. */
export interface TinkerTrainer {
  /** Name of the model that clients ask for. */
  readonly modelName: string;
  /** Name or folder of its tokenizer, which clients load. Default: the name of the model. */
  readonly tokenizerId?: string | undefined;
  /** Makes a policy with its own weights and optimizer. */
  createPolicy(settings: PolicySettings): Promise<HostedPolicy>;
  /** Makes a sampler with the model's first weights. `name` is another for each. */
  createSampler(name: string): Promise<HostedSampler>;
}
