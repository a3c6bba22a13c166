import { defineRun } from '@rlp/run';
import { near } from './src/rewards.ts';

/** `npm run train` runs this file. `npx rlp train --help` says how to replace a value on the command line. */
export default defineRun({
  // A new small model, so that nothing has to be downloaded. Later a folder, or a name such as 'Qwen/Qwen3-0.6B'.
  model: {
    create: {
      tokenizer: { characters: '0123456789+=' },
      layers: 2,
      hiddenSize: 64,
      heads: 4,
      contextLength: 32,
    },
  },
  data: 'data/questions.jsonl',
  // First it imitates the answers. For a model that can chat, leave this out.
  sft: { updates: 16, sequencesPerBatch: 8, backend: { learningRate: 3e-3 } },
  // Then it practises. `answer`: the response ends with the answer of the row.
  rewards: { right: 'answer', near },
  algorithm: {
    name: 'grpo',
    iterations: 20,
    tasksPerIteration: 8,
    rollout: { groupSize: 8, sampling: { maxTokens: 4 } },
    backend: { learningRate: 1e-3 },
  },
  evaluation: { heldOut: 4 },
  output: 'runs/first',
});
