import type { LinearLayer, QuantizedForm } from '@rlp/models/decoder';
import type { ParameterSpec } from '@rlp/onnx/runtime';

/** A frozen linear layer and the two factors of its correction `(alpha/rank) · B · A`. */
export interface LoraTarget {
  readonly layer: LinearLayer;
  /** `A`, `[rank, inputs]`. */
  readonly down: ParameterSpec;
  /** `B`, `[outputs, rank]`. */
  readonly up: ParameterSpec;
  /** DoRA's lengths of the rows, `[outputs]`. Absent for LoRA. */
  readonly magnitude?: ParameterSpec | undefined;
}

/** All that is trained of a correction. */
export function trainedOf({ down, up, magnitude }: LoraTarget): ParameterSpec[] {
  return [down, up, ...(magnitude === undefined ? [] : [magnitude])];
}

/** Graph that adds a low-rank correction to frozen weights, and the store for the result. */
export interface MergeGraphPlan {
  readonly kind: 'graph';
  readonly model: Uint8Array;
  /** Store of the merged weights. */
  readonly store: string;
  /** Inputs that are the parameters of the same name. */
  readonly parameters: readonly string[];
  /** Parameters that the graph computes. The output of each is named `merged:` and the parameter. */
  readonly merged: readonly string[];
}

/** A correction of quantized frozen weights. The published store holds these weights beside the factors of the correction. */
export interface QuantizedMergePlan {
  readonly kind: 'quantized';
  /** Store of the weights and the published factors. */
  readonly store: string;
  readonly scale: number;
  /** Parameters of the model. */
  readonly parameters: readonly ParameterSpec[];
  /** Parameters that are trained in full. */
  readonly modules: readonly ParameterSpec[];
  /** Quantized layers. */
  readonly layers: readonly LinearLayer[];
  readonly form: QuantizedForm;
  readonly targets: readonly LoraTarget[];
}

/** How published weights come from trained parameters. */
export type MergePlan = MergeGraphPlan | QuantizedMergePlan;
