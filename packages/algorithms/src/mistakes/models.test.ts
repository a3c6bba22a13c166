import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createOnnxBackend } from '@rlp/backprop';
import type { FullBackend } from '@rlp/core';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { characterTokenizer, type LanguageModel, loadModel, saveModel } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { PPOAlgorithm } from '../algorithm/ppo.ts';
import { loadRun, saveRun } from '../run.ts';
import { describeMistakes } from './mistakes.fixture.ts';

const story = fileURLToPath(new URL('../../../../examples/models/stories260k', import.meta.url));
const options = { tasksPerIteration: 2, rollout: { groupSize: 4, sampling: { maxTokens: 8 } } };

let folder: string;
let engine: Engine;
let model: LanguageModel;
let backend: FullBackend;
let sampler: InferenceModule;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rlp-mistakes-'));
  engine = await createEngine({ threads: 1 });
  model = await loadModel(story);
  backend = await createOnnxBackend({ engine, model, learningRate: 1e-4 });
  sampler = await InferenceModule.create({ backend: createOnnxSampler({ engine, model, maxSequences: 8 }) });
});

afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

function parts(more: object = {}) {
  const environment = new SimpleTextEnvironment({ prompts: ['Once', 'The'] });
  const rewards = rewardFunctions({ short: ({ response }) => -response.length });
  const { tokenizer } = model;
  return { environment, tasks: taskSource(environment.tasks), tokenizer, backend, sampler, rewards, ...more };
}

const train = (more: object = {}, iterations = 1) =>
  new GRPOAlgorithm(parts(more) as never, options).train({ iterations, print: 'none' });

const created = (store: string, more: object) =>
  createOnnxBackend({ engine, model, store, learningRate: 1e-4, ...more });

async function saved(): Promise<string> {
  const directory = join(folder, 'run');
  await saveRun(directory, backend, { kind: 'rl', state: { iteration: 1, taskCursor: 2 } });
  return directory;
}

describe('with a model', () => {
  describeMistakes([
    [
      'a provider that this machine lacks',
      () => createEngine({ executionProvider: 'cuda' }),
      /execution provider "cuda" does not work here.*this build of ONNX Runtime has/,
    ],
    [
      'a layer that the model lacks',
      () => created('layers', { lora: { targets: ['q_projection'] } }),
      /no linear layer is named "q_projection"; this model has q_proj/,
    ],
    [
      'a learning rate that is no number',
      () => created('nan', { learningRate: Number.NaN }),
      /learningRate: expected a number, got NaN/,
    ],
    [
      'a learning rate as text',
      () => created('text', { learningRate: '1e-5' }),
      /learningRate: expected a number, got "1e-5"/,
    ],
    [
      "TRL's name of an option",
      () => created('trl', { adaptation: { kind: 'lora' } }),
      /Unrecognized option "adaptation"; expected one of: .*lora/,
    ],
    [
      'a second backend in the same store',
      () => createOnnxBackend({ engine, model, learningRate: 1e-4 }),
      /has a store "policy" already.*`store: 'critic'`/,
    ],
    [
      'a prompt longer than the context',
      () => sampler.generate(['Once upon a time '.repeat(400)], { maxTokens: 4 }),
      /the prompt has \d+ tokens, but the context holds 512/,
    ],
    [
      'a misspelt sampling option',
      () => sampler.generate(['Once'], { maxTokens: 4, top_p: 0.9 } as never),
      /Unrecognized option "top_p"/,
    ],
    [
      "another model's tokenizer",
      () => train({ tokenizer: characterTokenizer('abc') }),
      /`tokenizer` has 3 tokens and the sampler's has 512/,
    ],
    [
      'a critic without a value head',
      () => new PPOAlgorithm({ ...parts(), critic: backend } as never, options).train({ iterations: 1 }),
      /critic → values: a value head; createOnnxBackend makes one/,
    ],
    [
      'a checkpoint of another loop',
      async () => loadRun(await saved(), backend, 'sft'),
      /is a checkpoint of an rl run, expected sft/,
    ],
    [
      'a checkpoint of another adaptation',
      async () => loadRun(await saved(), await created('lora', { lora: { rank: 4 } }), 'rl'),
      /trains every weight, and this backend trains a low-rank correction; create it without `lora`/,
    ],
    [
      'a sampler in another engine',
      async () => {
        const second = await createEngine({ threads: 1, thread: 'inline' });
        const foreign = await InferenceModule.create({
          backend: createOnnxSampler({ engine: second, model, maxSequences: 8 }),
        });
        return train({ sampler: foreign }).finally(() => second.close());
      },
      /live in different engines.*create both in one engine/,
    ],
    [
      'a backend that is closed',
      async () => {
        const closed = await created('closed', {});
        await closed.close();
        return closed.logprobs([[1, 2, 3]]);
      },
      /this training backend is closed/,
    ],
    [
      'an engine that is closed',
      async () => {
        const second = await createEngine({ threads: 1, thread: 'inline' });
        const gone = await InferenceModule.create({
          backend: createOnnxSampler({ engine: second, model, maxSequences: 8 }),
        });
        await second.close();
        return gone.generate(['Once'], { maxTokens: 2 });
      },
      /the engine was closed/,
    ],
    [
      'a folder with other files',
      async () => {
        const documents = join(folder, 'documents');
        await mkdir(documents);
        await writeFile(join(documents, 'notes.txt'), 'mine');
        return saveModel(documents, model);
      },
      /expected nothing or an earlier save, found other files \(notes\.txt\)/,
    ],
  ]);

  it('a learning rate far too high earns a note', async () => {
    const hot = await created('hot', { learningRate: 100 });
    const sampling = await InferenceModule.create({
      backend: createOnnxSampler({ engine, model, store: 'hot', maxSequences: 8 }),
    });
    const { notes } = await train({ backend: hot, sampler: sampling }, 4);
    expect(notes.join('\n')).toMatch(
      /entropy of the policy fell from [\d.]+ to [\d.e-]+ nats.*lower the learning rate/,
    );
  });
});
