import { ConversationEnvironment, withTools } from '@rlp/env';
import { defineRun } from '@rlp/run';
import { calculator } from './src/calculator.ts';

const conversation = new ConversationEnvironment({
  systemPrompt: 'Use the calculator. Answer with the number alone.',
});

/** `npm run train` runs this file. `npx rlp train --help` says how to replace a value on the command line. */
export default defineRun({
  // A folder or a name of the hub. The chat template of the model has to know tools.
  model: process.env.MODEL ?? 'Qwen/Qwen3-0.6B',
  data: 'data/questions.jsonl',
  environment: withTools(conversation, [calculator], { maxCalls: 2 }),
  // `answer`: the response ends with the answer of the row.
  rewards: { right: 'answer' },
  algorithm: {
    name: 'grpo',
    iterations: 10,
    tasksPerIteration: 4,
    rollout: { groupSize: 4, maxTurns: 3, sampling: { maxTokens: 128 } },
    backend: { lora: { rank: 16 }, learningRate: 1e-5 },
  },
  evaluation: { heldOut: 4 },
  output: 'runs/first',
});
