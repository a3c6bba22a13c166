import { defineRun } from '@rlp/run';

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
  sft: { updates: 60, sequencesPerBatch: 8, backend: { learningRate: 3e-3 } },
  evaluation: { heldOut: 4, every: 20 },
  output: 'runs/first',
});
