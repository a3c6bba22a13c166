import type { TracedLoss } from './batch/traced-loss.ts';
import type { Optimizer } from './optimizer/optimizer.ts';
import type { Schedule } from './optimizer/schedule.ts';

/** Which parameters a policy reads: the ones being trained, or their frozen twin. */
export type Policy = 'current' | 'reference';

/** Graph that adds a low-rank correction to frozen weights, and the store it writes them to. */
export interface MergePlan {
  readonly model: Uint8Array;
  /** Store of the merged weights. */
  readonly store: string;
  /** Inputs that are parameters of this name. */
  readonly parameters: readonly string[];
  /** Parameters of the store that the graph computes; the output is named `merged:` and the parameter. */
  readonly merged: readonly string[];
}

/** Options of the training program; see the docstrings of the backend's own options. */
export interface TrainingProgramOptions {
  /** Store of the trained parameters, with slots `gradient`, `moment1` and `moment2`. */
  readonly trainable: string;
  /** Stores of frozen parameters that the graphs read too; the first that has a parameter gives it. */
  readonly frozen: readonly string[];
  /** Store of the reference policy's copy of the trained parameters; created when first needed. */
  readonly reference: string | undefined;
  /** Store of gradients of later micro-batches before they are added; created when first needed. */
  readonly scratch: string;
  readonly optimizer: Optimizer;
  readonly schedule: Schedule;
  readonly learningRate: number;
  /** `Infinity` for no clipping. */
  readonly maxGradientNorm: number;
  /** Present where published weights differ from the trained parameters. */
  readonly merge: MergePlan | undefined;
}

/** A compiled graph's bytes, and what its inputs and outputs mean. */
export interface GraphPlan {
  readonly key: string;
  readonly model: Uint8Array;
  /** Inputs that are parameters of this name. */
  readonly parameters: readonly string[];
  /** Inputs that are some rows of a parameter. */
  readonly blocks: readonly ParameterBlock[];
  /** Outputs `[rows, length]` that are handed back, one number per position: `logprobs`, `entropies`, `values`. */
  readonly perPosition: readonly string[];
  /** Inputs `[rows, length]` of loss columns, by column name. */
  readonly columns: Readonly<Record<string, string>>;
  /** Outputs that are whole gradients: output name by parameter. */
  readonly gradients: Readonly<Record<string, string>>;
  /** Outputs `[rows · length, width]` whose rows are added to a parameter's gradient at these indices. */
  readonly scattered: readonly ScatteredGradient[];
  /** Outputs that stay on the device, where there is one. */
  readonly deviceOutputs: readonly string[];
  /** Outputs that are sums of a metric over trained tokens: output name by metric. */
  readonly metrics: Readonly<Record<string, string>>;
}

/** Consecutive rows of a parameter that a graph reads on their own. */
export interface ParameterBlock {
  readonly parameter: string;
  readonly input: string;
  /** Output with their gradient; absent where the graph does not compute it. */
  readonly output?: string;
  readonly firstRow: number;
  readonly shape: readonly [number, number];
}

/** Gradient rows of a table that the graph looked up; the host adds them, because ONNX Runtime's ScatterND races. */
export interface ScatteredGradient {
  readonly parameter: string;
  readonly output: string;
  readonly indices: 'tokens' | 'targets';
  readonly width: number;
}

/** One micro-batch: arrays `[rows, length]`. */
export interface MicroBatchRequest {
  readonly rows: number;
  readonly length: number;
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
  readonly mask: Float32Array;
  readonly weights: Float32Array;
  readonly columns: Readonly<Record<string, Float32Array>>;
}

/** A graph to be built in the engine's thread. */
export type GraphSource =
  | { readonly kind: 'training'; readonly loss: TracedLoss }
  | { readonly kind: 'scoring' }
  | { readonly kind: 'values' };

/** The graph that a request runs. */
export interface GraphRequest {
  readonly graph: string;
  /** What to build it of, if the engine does not have it. */
  readonly compile: GraphSource | undefined;
  /** Keys of graphs to forget first. */
  readonly release: readonly string[];
}

/** Work for the engine. */
export interface ComputeRequest extends GraphRequest {
  readonly temperature: number;
  readonly microBatches: readonly MicroBatchRequest[];
}

/** What a forward and backward pass gives, per micro-batch where it is per token. */
export interface GradientResult {
  readonly loss: number;
  /** Sums over trained tokens. */
  readonly metricSums: Readonly<Record<string, number>>;
  readonly scores: ScoreResult;
}

/** What the graph's plan calls `perPosition`, by name, one array per micro-batch. */
export type ScoreResult = Readonly<Record<string, readonly Float32Array[]>>;

/** New frozen weights for a low-rank correction, which starts again from nothing. */
export interface RebaseRequest {
  readonly tensors: readonly NamedTensor[];
  /** Trained parameters that become zero. */
  readonly zero: readonly string[];
}

/** A named tensor on its way in or out of the engine. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Everything a resumed run needs from inside the engine. */
export interface ProgramState {
  readonly updates: number;
  readonly weightVersion: number;
  readonly parameters: readonly NamedTensor[];
  readonly moment1: readonly NamedTensor[];
  readonly moment2: readonly NamedTensor[];
  readonly reference: readonly NamedTensor[] | undefined;
}
