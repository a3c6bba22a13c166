/**
 * Two iterations of GRPO from end to end on a folder that `lab/large-models.ts make` wrote, with its peak memory. One JSON line.
 *
 *     node --conditions=@rlp/source --import tsx lab/large-grpo.ts FOLDER [--base float32|int8|nf4] [--tokens 16]
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { GRPOAlgorithm } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { arithmeticTasks, ConversationEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { type LanguageModel, loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { base: { type: 'string', default: 'int8' }, tokens: { type: 'string', default: '16' } },
});
const [folder] = positionals;
if (folder === undefined) throw new Error('usage: large-grpo.ts FOLDER');
const maxTokens = Number(values.tokens);

const peakMiB = () =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024);
const begun = performance.now();
const seconds = () => Number(((performance.now() - begun) / 1000).toFixed(1));

let model: LanguageModel = await loadModel(folder, { checksums: 'skip' });
const { tokenizer, chat } = model;
const engine = await createEngine({ threads: 2 });
const lora = { rank: 8, base: values.base as 'float32' | 'int8' | 'nf4' };
const backend = await createOnnxBackend({ engine, model, learningRate: 1e-4, reference: 'none', lora });
const loadPeak = peakMiB();
const loadSeconds = seconds();
// The backend has copied the weights, and the sampler shares its store.
model = { ...model, weights: new Map() };
const sampler = await InferenceModule.create({
  backend: createOnnxSampler({ engine, model, maxSequences: 8, contextLength: 128 }),
});
const samplerPeak = peakMiB();
const samplerSeconds = seconds();
const grpo = new GRPOAlgorithm(
  {
    environment: new ConversationEnvironment({ maxTurns: 1 }),
    tasks: taskSource(arithmeticTasks({ digits: 1, count: 40 })),
    // A random model never computes: this reward differs within a group.
    rewards: rewardFunctions({
      even: ({ response }) =>
        [...response].filter((each) => each.codePointAt(0)! % 2 === 0).length / maxTokens,
    }),
    ...{ tokenizer, chat, sampler, backend },
  },
  { tasksPerIteration: 2, rollout: { groupSize: 4, sampling: { maxTokens } } },
);
const { history } = await grpo.train({ iterations: 2 });
console.log(
  JSON.stringify({
    ...{ base: values.base, loadSeconds, loadPeak, samplerSeconds, samplerPeak, seconds: seconds() },
    gaps: history.map((metrics) => metrics['gap/absolute']),
    updates: history.map((metrics) => metrics['update/count']),
    peakMiB: peakMiB(),
  }),
);
await sampler.close();
await backend.close();
await engine.close();
