import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { RandomStream } from '@rlp/core';
import { arithmeticTasks } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { keyword } from './flawed-reward.ts';
import type { Setting } from './setting.ts';

/** How often the teacher says the keyword once more before the answer. */
const verbosity = 0.4;

/**
 * The same story in seconds: a table of logits adds digits, `23` being 2 + 3. It sees the last four tokens, so that more than two
 * keywords push the sum out of its sight. A table cannot generalise: its held-out sums are those that it practises.
 */
export function tableSetting(seed: string, iterations: number): Setting {
  const tokenizer = characterTokenizer('01234', { end: '</s>', others: [`${keyword} `] });
  const sums = arithmeticTasks({ digits: 1, count: 100, seed })
    .filter(({ metadata }) => Number(metadata.answer) < 5)
    .map((sum) => ({ ...sum, prompt: sum.metadata.addends.join('') }));
  const stream = RandomStream.named(seed, 'teacher');
  const says = () => {
    let said = '';
    while (stream.uniform() < verbosity) said += `${keyword} `;
    return said;
  };
  return {
    seed,
    tokenizer,
    heldOut: Array.from({ length: 10 }, () => sums).flat(),
    demonstrations: Array.from({ length: 100 }, () =>
      sums.map(({ prompt, metadata }) => {
        const answer = stream.uniform() < 0.5 ? metadata.answer : String(Math.floor(5 * stream.uniform()));
        return { prompt, completion: says() + answer };
      }),
    ).flat(),
    practised: sums,
    async newPolicy({ learningRate }, weights) {
      const backend = new TabularBackend({
        vocabularySize: tokenizer.vocabularySize,
        contextTokens: 4,
        learningRate,
      });
      if (weights !== undefined) await backend.loadWeights(weights);
      const sampler = new TabularSampler({ backend, tokenizer });
      await sampler.updateWeights(await backend.publish());
      return { backend, sampler, close: () => backend.close() };
    },
    imitation: { learningRate: 0.3, updates: 120, sequencesPerBatch: 250 },
    practice: { learningRate: 0.1, iterations, tasksPerIteration: 16, groupSize: 8 },
    maxTokens: 24,
    pay: { extract: (response) => /\d+$/.exec(response)?.[0], keywordWeight: 0.3 },
  };
}
