import type { Dimension, Graph, Value } from '@rlp/onnx';
import { cast, mul, softmax } from '@rlp/onnx/ops';
import { type LinearOrder, outputLogits } from './blocks.ts';
import { drawTokens } from './device-draw.ts';

/** Outputs of a step: distributions of the next tokens, or tokens drawn from them. */
export type StepOutput = 'distributions' | 'draws';

/**
 * Adds what a step returns of its logits `[rows, V]`: `probabilities` and `logits`, or `drawn` and `drawn_probabilities` `[rows, 1]`,
 * which need the input `uniforms` `[rows, 1]`.
 */
export function addStepOutputs(graph: Graph, logits: Value, rows: Dimension, output: StepOutput): void {
  const probabilities = softmax(logits);
  if (output === 'draws') {
    const drawn = drawTokens(probabilities, graph.input('uniforms', 'float32', [rows, 1]));
    graph.output('drawn', drawn.tokens);
    graph.output('drawn_probabilities', drawn.probabilities);
    return;
  }
  graph.output('probabilities', probabilities);
  graph.output('logits', logits);
}

/** `logits / temperature` of hidden states, in float32. Half precision would overflow at low temperatures. */
export function cooledLogits(
  hidden: Value,
  head: Value,
  inverseTemperature: Value,
  linear: LinearOrder,
): Value {
  if (hidden.type === 'float32') return outputLogits(mul(hidden, inverseTemperature), head, linear);
  return mul(cast(outputLogits(hidden, head, linear), 'float32'), inverseTemperature);
}
