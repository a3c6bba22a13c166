import type { ModelConfig } from '@rlp/models';
import { attentionScale } from '@rlp/models/decoder';
import { defineOp, type Graph, productDimension, type Value } from '@rlp/onnx';
import {
  add,
  fusedMatmul,
  gather,
  log,
  matmul,
  mul,
  reduceMax,
  reshape,
  softmax,
  sub,
  transpose,
  where,
} from '@rlp/onnx/ops';

/** Keys and values of prompts that several rows share. */
export const promptNames = {
  key: (layer: number) => `prompt_key.${layer}`,
  value: (layer: number) => `prompt_value.${layer}`,
};

const padOp = defineOp({ type: 'Pad' });
const sliceOp = defineOp({ type: 'Slice' });

/** Attention of one token in each row over its prompt. */
export interface PromptAttention {
  /** Bias of the kernel's scores `[batch, heads, 1, keys]`: the log of the prompt's sum of exponentials in the first column. */
  readonly bias: Value;
  /**
   * Joins the kernel's result with that of the prompt.
   *
   * @param attended - `[batch, 1, heads · headDimension]`
   * @param probabilities - Of the kernel, `[batch, heads, 1, keys]`
   */
  join(attended: Value, probabilities: Value): Value;
}

/**
 * Attention over prompts that several rows share, each read once for all of its rows.
 *
 * The first cached position of such a row is a stand-in for the prompt, with a key and a value of zeros. Its score is the log of the sum of
 * exponentials of the prompt's scores. So its probability is the prompt's share, by which the prompt's own result is weighted.
 *
 * Inputs, besides {@link promptNames} `[groups, keyValueHeads, prompt, headDimension]`:
 *
 * - `members`, int64 `[groups, members]`: the rows of each prompt, filled up with any rows
 * - `places`, int64 `[batch]`: index of each row among `groups · members`. Any for a row with a prompt of its own.
 * - `shares`, bool `[batch, 1, 1, 1]`: whether the row shares a prompt
 * - `prompt_mask`, `[groups, 1, 1, prompt]`: added to the scores
 * - `bias_pads`, int64 `[8]`: widens one column to those of the kernel
 */
export function promptAttention(
  graph: Graph,
  config: ModelConfig,
): (layer: number, query: Value) => PromptAttention {
  const { heads, keyValueHeads, headDimension } = config;
  const queries = heads / keyValueHeads;
  const members = graph.input('members', 'int64', ['groups', 'members']);
  const places = graph.input('places', 'int64', ['batch']);
  const shares = graph.input('shares', 'bool', ['batch', 1, 1, 1]);
  const none = graph.constant(0);
  const mask = graph.input('prompt_mask', 'float32', ['groups', 1, 1, 'prompt']);
  const pads = graph.input('bias_pads', 'int64', [8]);
  // Another row's numbers that are not finite must not reach a row that shares nothing.
  const isShared = reshape(shares, ['batch', 1, 1]);
  const first = [[0], [1], [3]].map((values) => graph.constant(values, [1], 'int64'));
  const prompts = ['groups', keyValueHeads, 'prompt', headDimension];
  const byPrompt = (x: Value) => {
    const rows = gather(reshape(x, ['batch', heads * headDimension]), members);
    const split = reshape(rows, ['groups', 'members', keyValueHeads, queries * headDimension]);
    const inHeads = ['groups', keyValueHeads, productDimension(['members', queries]), headDimension];
    return reshape(transpose(split, [0, 2, 1, 3]), inHeads);
  };
  const byRow = (x: Value, width: number) => {
    const split = transpose(reshape(x, ['groups', keyValueHeads, 'members', queries * width]), [0, 2, 1, 3]);
    return gather(reshape(split, [productDimension(['groups', 'members']), heads, width]), places);
  };
  return (layer, query) => {
    const key = graph.input(promptNames.key(layer), 'float32', prompts);
    const value = graph.input(promptNames.value(layer), 'float32', prompts);
    const options = { transposeB: 'yes', alpha: attentionScale(config) } as const;
    const scores = add(fusedMatmul(byPrompt(query), key, options), mask);
    const probabilities = softmax(scores);
    const best = (x: Value) => reduceMax(x, { axes: -1, keepAxes: 'yes' });
    const logSum = reshape(byRow(sub(best(scores), log(best(probabilities))), 1), ['batch', heads, 1, 1]);
    const attended = byRow(matmul(probabilities, value), headDimension);
    const [bias] = graph.apply(padOp, [where(shares, logSum, none), pads], {}, [
      { type: 'float32', shape: ['batch', heads, 1, 'keys'] },
    ]);
    return {
      bias: bias!,
      join(own, ownProbabilities) {
        const [share] = graph.apply(sliceOp, [ownProbabilities, ...first], {}, [
          { type: 'float32', shape: ['batch', heads, 1, 1] },
        ]);
        const joined = add(own, reshape(mul(attended, reshape(share!, ['batch', heads, 1])), own.shape));
        return where(isShared, joined, own);
      },
    };
  };
}
