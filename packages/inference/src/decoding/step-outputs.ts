import type { Value } from '@rlp/onnx';
import { cast, mul, softmax } from '@rlp/onnx/ops';
import type { DecoderStates } from './blocks.ts';
import { drawTokens } from './device-draw.ts';

/** Outputs of a step: distributions of the next tokens, or tokens drawn from them. */
export type StepOutput = 'distributions' | 'draws';

/**
 * Adds the outputs of a step, from hidden states `[rows, d]` divided by the temperatures: `probabilities` and `logits` `[rows, V]`, or
 * `drawn` and `drawn_probabilities` `[rows, 1]`. Needs the input `inverse_temperature` `[rows, 1]`. Draws also need `uniforms` `[rows, 1]`.
 */
export function addStepOutputs(
  { hidden, logits: logitsOf }: Pick<DecoderStates, 'hidden' | 'logits'>,
  output: StepOutput,
): void {
  const { graph } = hidden;
  const rows = hidden.shape[0]!;
  const inverse = graph.input('inverse_temperature', 'float32', [rows, 1]);
  const logits = cooledLogits(hidden, inverse, logitsOf);
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
function cooledLogits(hidden: Value, inverse: Value, logitsOf: DecoderStates['logits']): Value {
  if (hidden.type === 'float32') return logitsOf(mul(hidden, inverse));
  return mul(cast(logitsOf(hidden), 'float32'), inverse);
}
