import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TabularBackend } from '@rlp/backprop/tabular';
import { datasetOfText, tasksFrom } from '@rlp/data';
import { taskSource } from '@rlp/env';
import { characterTokenizer, loadModel } from '@rlp/models';
import { readSafetensors } from '@rlp/models/safetensors';
import { createRolloutRewardProcessor, processEpisodeBatchRewards } from '@rlp/rewards';
import { pointwiseJudge } from '@rlp/rewards/judge';
import { afterAll, beforeAll, describe } from 'vitest';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { PPOAlgorithm } from '../algorithm/ppo.ts';
import { describeMistakes, smallOptions, smallRun, train } from './mistakes.fixture.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rlp-mistakes-'));
  await mkdir(join(folder, 'pickled'));
  await writeFile(join(folder, 'pickled', 'pytorch_model.bin'), 'x');
  await writeFile(join(folder, 'pickled', 'config.json'), '{"model_type":"llama"}');
  const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1000\n';
  await writeFile(join(folder, 'pointer.safetensors'), pointer);
});
afterAll(() => rm(folder, { recursive: true }));

const tasksOf = (...tasks: object[]) => ({ tasks: taskSource(tasks as never) });

describe('what cannot be right is refused before a run', () => {
  describeMistakes([
    [
      'no such folder',
      () => loadModel('./models/none'),
      /models\/none\/config\.json: no such file; give the folder/,
    ],
    [
      'a hub id that was never fetched, offline',
      () => loadModel('models/none', { hub: { use: 'cache', cacheDirectory: folder } }),
      /no folder models\/none was found here, and /,
    ],
    [
      'a file in place of a folder',
      () => loadModel(join(folder, 'pickled', 'config.json')),
      /is a file; give the folder/,
    ],
    [
      'no folder at all',
      () => loadModel(undefined as never),
      /expected the folder of a Hugging Face model, or its name on the hub, got undefined/,
    ],
    [
      'a pointer of Git LFS in place of weights',
      () => readSafetensors(join(folder, 'pointer.safetensors')),
      /pointer\.safetensors: .*probably a pointer of Git LFS; run `git lfs pull`/,
    ],
    [
      'a misspelt option of train',
      () => new GRPOAlgorithm(smallRun() as never, smallOptions).train({ numIterations: 3 } as never),
      /Unrecognized option "numIterations"/,
    ],
    [
      'a number in place of the options of train',
      () => new GRPOAlgorithm(smallRun() as never, smallOptions).train(10 as never),
      /GRPOAlgorithm: invalid options.*expected an object, got 10/s,
    ],
    [
      'a state to resume that is none',
      () => new GRPOAlgorithm(smallRun() as never, smallOptions).train({ resume: { iter: 3 } } as never),
      /resume\.iteration: expected a number, got nothing/,
    ],
    [
      'a report in place of its state',
      () => {
        const resume = { iteration: 3, metrics: {}, notes: [], state: { iteration: 4, taskCursor: 32 } };
        return new GRPOAlgorithm(smallRun() as never, smallOptions).train({ resume } as never);
      },
      /resume: expected a state, got an object with iteration, metrics, notes, state; pass the `state` of the report/,
    ],
    [
      'a run that was not waited for',
      () =>
        new GRPOAlgorithm(smallRun() as never, smallOptions).train({ resume: Promise.resolve() } as never),
      /resume: expected a state, got a promise; await loadRun/,
    ],
    [
      'a loss that returns nothing',
      () => train({ loss: { key: 'z', columns: [], compute: () => undefined } }),
      /the loss "z" returned no tokenLosses; return \{ tokenLosses \}/,
    ],
    [
      'a judge without a rubric',
      () => pointwiseJudge({ generator: async () => '' } as never),
      /pointwiseJudge: invalid options\s+- rubric: must say in words what counts/,
    ],
    [
      'episodes that are no list',
      () => processEpisodeBatchRewards({ prompt: 'a', response: 'b' } as never),
      /expected an array of episodes, got an object with prompt, response/,
    ],
    ['pickled weights', () => loadModel(join(folder, 'pickled')), /pickled|safe_serialization|config\.json/],
    [
      'a misspelt option',
      () => train({}, { ...smallOptions, group_size: 8 }),
      /Unrecognized option "group_size"; in rlp this is rollout\.groupSize/,
    ],
    [
      'a number as text',
      () => train({}, { rollout: { groupSize: '8' } }),
      /rollout\.groupSize: expected a number, got "8"/,
    ],
    [
      'an unknown preset',
      () => train({}, { preset: 'unsloth' }),
      /preset: expected one of "rlp", .*, got "unsloth"/,
    ],
    ['groups of one', () => train({}, { rollout: { groupSize: 1 } }), /groupSize: must be at least 2/],
    [
      'temperature 0',
      () => train({}, { rollout: { groupSize: 4, sampling: { temperature: 0 } } }),
      /temperature must be above 0/,
    ],
    ['no iterations', () => train({}, smallOptions, 0), /iterations: expected a number of at least 1, got 0/],
    [
      'PPO without a critic',
      () => new PPOAlgorithm(smallRun() as never),
      /critic: must be a backend with a value head; pass `critic: backend`/,
    ],
    [
      'a critic without a value head',
      () =>
        new PPOAlgorithm({ ...smallRun(), critic: new TabularBackend({ vocabularySize: 4 }) }).train({
          iterations: 1,
        }),
      /critic → values: a value head/,
    ],
    [
      'no rewards',
      () => train({ rewards: undefined }),
      /rewards: must be a reward computer; rewardFunctions/,
    ],
    ['tasks as a list', () => train({ tasks: [] }), /tasks: must be a task source; taskSource\(tasks\)/],
    ['no tasks', () => taskSource([]), /expected at least one task, got none/],
    [
      'tasks that are missing',
      () => taskSource(undefined as never),
      /expected a list of tasks, got undefined/,
    ],
    [
      'a task without a prompt',
      () => tasksOf({ id: 'a', question: '1+1?' }),
      /task 0: expected text or a list of messages as prompt, got undefined; the task has question/,
    ],
    ['a task without an id', () => tasksOf({ prompt: 'a' }), /task 0: expected text as id, got undefined/],
    [
      'a line without a prompt',
      () =>
        tasksFrom(
          datasetOfText('{"id":"a","prompt":"a"}\n{"id":"b","prompt":{}}\n', { name: 'train.jsonl' }),
        ),
      /train\.jsonl, line 2: expected text or a list of messages in the column prompt/,
    ],
    [
      'lines without a known prompt',
      () => tasksFrom(datasetOfText('{"query":"1+1?","answer":"2"}\n', { name: 'gsm8k.jsonl' })),
      /the row has query, answer; name it, as in fields: \{ prompt: 'query' \}/,
    ],
    [
      "another model's tokenizer",
      () => train({ tokenizer: characterTokenizer('abcdefgh', { end: '.' }) }),
      /`tokenizer` has 9 tokens and the sampler's has 4/,
    ],
    ["another backend's sampler", () => train({ sampler: smallRun().sampler }), /live in different engines/],
    [
      'episodes that are missing',
      () => createRolloutRewardProcessor({}).processEpisodeRewards(undefined as never),
      /processEpisodeRewards: expected an array of episodes, got undefined/,
    ],
    [
      'one episode in place of a list',
      () => createRolloutRewardProcessor({}).processEpisodeRewards({ prompt: 'a', response: 'b' } as never),
      /expected an array of episodes/,
    ],
  ]);
});
