import type { Value } from '@rlp/onnx';
import { cast, mul, softmax } from '@rlp/onnx/ops';
import { type DecoderStates, type LinearOrder, outputLogits } from './blocks.ts';
import { drawTokens } from './device-draw.ts';

/** Outputs of a step: distributions of the next tokens, or tokens drawn from them. */
export type StepOutput = 'distributions' | 'draws';

/**
 * Adds the outputs of a step, from hidden states `[rows, d]` divided by the temperatures: `probabilities` and `logits` `[rows, V]`, or
 * `drawn` and `drawn_probabilities` `[rows, 1]`. Needs the input `inverse_temperature` `[rows, 1]`. Draws also need `uniforms` `[rows, 1]`.
 */
export function addStepOutputs(
  { hidden, head }: DecoderStates,
  { linear, output }: { readonly linear: LinearOrder; readonly output: StepOutput },
): void {
  const { graph } = hidden;
  const rows = hidden.shape[0]!;
  const inverse = graph.input('inverse_temperature', 'float32', [rows, 1]);
  const logits = cooledLogits(hidden, head, inverse, linear);
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
function cooledLogits(hidden: Value, head: Value, inverse: Value, linear: LinearOrder): Value {
  if (hidden.type === 'float32') return outputLogits(mul(hidden, inverse), head, linear);
  return mul(cast(outputLogits(hidden, head, linear), 'float32'), inverse);
}
