import type { MicroBatch } from './batch/fill.ts';
import type { AttentionForm } from './batch/layout-costs.ts';
import type { TracedLoss } from './batch/traced-loss.ts';
import type { LossScaleState } from './optimizer/loss-scale.ts';
import type { Optimizer } from './optimizer/options.ts';
import type { Schedule } from './optimizer/schedule.ts';
import type { TrainedParameter } from './optimizer/update-rule.ts';
import type { MergePlan } from './weights/merge-plan.ts';

/** Parameters that a policy reads: the trained ones, or their frozen copy. */
export type Policy = 'current' | 'reference';

/** Options of the training program. The backend's options explain them. */
export interface TrainingProgramOptions {
  /** Store of the trained parameters, with slots `gradient` and, for AdamW in host memory, `moment1` and `moment2`. */
  readonly trainable: string;
  /** Stores of frozen parameters that the graphs read. The first store that has a parameter provides it. */
  readonly frozen: readonly string[];
  /** Store of the reference policy's parameters, created on first use. */
  readonly reference: string | undefined;
  /** Store on a device for gradients of later micro-batches before they are added, created on first use. */
  readonly scratch: string;
  /** Parameters of {@link TrainingProgramOptions.trainable}. */
  readonly parameters: readonly TrainedParameter[];
  /** Store of the optimizer's state that is in no slot, created on first use. */
  readonly optimizerState: string;
  /** Store of the weights at which an optimizer takes gradients, if these are not the parameters. Created on first use. */
  readonly point: string;
  readonly optimizer: Optimizer;
  readonly schedule: Schedule;
  readonly learningRate: number;
  /** Maximum norm. `Infinity` turns clipping off. */
  readonly maxGradientNorm: number;
  /** `'mixed'` multiplies gradients by a factor that adapts, and leaves out updates whose gradient overflows. */
  readonly precision: 'float32' | 'mixed';
  /** Present if inputs of corrections are dropped in training. */
  readonly dropout?: DropoutOptions | undefined;
  /** Present if published weights differ from the trained parameters. */
  readonly merge: MergePlan | undefined;
}

/** How inputs of low-rank corrections are dropped. */
export interface DropoutOptions {
  /** Share of the inputs, above 0 and below 1. */
  readonly rate: number;
  readonly seed: string | number;
}

/** Input `[tokens, width]` of a graph that is 1 where an input of a correction is kept. */
export interface DropoutMask {
  /** Factor that reads what is kept. It names the mask's random stream. */
  readonly parameter: string;
  readonly input: string;
  readonly width: number;
}

/** What replaces the program's options in one update. */
export interface UpdateSettings {
  /** Learning rate, whatever the schedule says. */
  readonly learningRate?: number | undefined;
  readonly optimizer?: Optimizer | undefined;
  readonly maxGradientNorm?: number | undefined;
}

/** A graph's bytes, and the meaning of its inputs and outputs. */
export interface GraphPlan {
  readonly key: string;
  readonly model: Uint8Array;
  /** Inputs that are the parameters of the same name. */
  readonly parameters: readonly string[];
  /** Inputs that are masks drawn anew for every batch. */
  readonly dropouts: readonly DropoutMask[];
  /** Inputs that are some rows of a parameter. */
  readonly blocks: readonly ParameterBlock[];
  /** Outputs `[scores]` that are returned: `logprobs`, `entropies`, `values`. */
  readonly perPosition: readonly string[];
  /** Inputs of loss columns, by column name. */
  readonly columns: Readonly<Record<string, string>>;
  readonly sums: GradientSums;
  /** Outputs that are whole gradients: output name by parameter. Parameters that the loss does not depend on have none. */
  readonly gradients: Readonly<Record<string, string>>;
  /** Outputs `[tokens, width]` or `[scores, width]` whose rows are added to a parameter's gradient at these indices. */
  readonly scattered: readonly ScatteredGradient[];
  /** Outputs that are sums of a metric over trained tokens: output name by metric. */
  readonly metrics: Readonly<Record<string, string>>;
}

/** Whether gradients of a graph are added to the total before it, which is then an input, or those of its micro-batch alone. */
export type GradientSums = 'added' | 'alone';

/** Input with the total that an output is added to, of the output's shape or of one element. */
export function totalBefore(output: string): string {
  return `before:${output}`;
}

/** Consecutive rows of a parameter that a graph reads separately. */
export interface ParameterBlock {
  readonly parameter: string;
  readonly input: string;
  /** Output with their gradient. Absent if the graph does not compute it. */
  readonly output?: string;
  readonly firstRow: number;
  readonly shape: readonly [number, number];
}

/** Gradient rows of a table lookup. The host adds them, because ONNX Runtime's ScatterND has a race. */
export interface ScatteredGradient {
  readonly parameter: string;
  readonly output: string;
  readonly indices: 'tokens' | 'targets';
  readonly width: number;
}

/** Description of a graph that the engine's thread builds. */
export type GraphSource = {
  /** Whether attention is computed at once or in blocks. */
  readonly attention: AttentionForm;
} & ({ readonly kind: 'training'; readonly loss: TracedLoss } | { readonly kind: 'scoring' | 'values' });

/** Graph that a request runs. */
export interface GraphRequest {
  readonly graph: string;
  /** Description of the graph, if the engine does not have it. */
  readonly compile: GraphSource | undefined;
  /** Keys of graphs to release first. */
  readonly release: readonly string[];
}

/** Work for the engine. */
export interface ComputeRequest extends GraphRequest {
  readonly temperature: number;
  readonly microBatches: readonly MicroBatch[];
}

/** Result of a forward and backward pass. Per-token arrays are grouped by micro-batch. */
export interface GradientResult {
  readonly loss: number;
  /** Sums over trained tokens. */
  readonly metricSums: Readonly<Record<string, number>>;
  readonly scores: ScoreResult;
}

/** Outputs in `perPosition` of the plan, by name, one array per micro-batch. */
export type ScoreResult = Readonly<Record<string, readonly Float32Array[]>>;

/** New frozen weights for a low-rank correction. The correction is reset. */
export interface RebaseRequest {
  readonly tensors: readonly NamedTensor[];
  /** Trained parameters to set to zero. */
  readonly zero: readonly string[];
}

/** A named tensor that is sent to or from the engine. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** State inside the engine that a resumed run needs. */
export interface ProgramState {
  readonly updates: number;
  readonly weightVersion: number;
  readonly parameters: readonly NamedTensor[];
  /** State of the optimizer, named `state.parameter`. */
  readonly optimizer: readonly NamedTensor[];
  readonly reference: readonly NamedTensor[] | undefined;
  /** Factor of gradients, with `precision: 'mixed'`. */
  readonly lossScale?: LossScaleState | undefined;
}
