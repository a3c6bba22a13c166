import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { ConversationEnvironment, SimpleTextEnvironment, taskSource } from '@rlp/env';
import { characterTokenizer } from '@rlp/models';
import { rewardFunctions } from '@rlp/rewards';
import { describe, expect, it } from 'vitest';
import { GRPOAlgorithm } from '../algorithm/grpo.ts';
import { RunStoppedError } from '../loop/run-stopped.ts';
import { describeMistakes, smallOptions, smallRun, train } from './mistakes.fixture.ts';

const reward = (judge: (given: never) => unknown) => ({ rewards: rewardFunctions({ k: judge as never }) });
const broken = (parts: object) => ({
  environment: Object.assign(new SimpleTextEnvironment({ prompts: ['a'] }), parts),
});
function vague() {
  const run = smallRun();
  const sample = run.sampler.sample.bind(run.sampler);
  run.sampler.sample = async (request) =>
    (await sample(request)).map((completion) => ({ ...completion, policyVersion: Number.NaN }));
  return run;
}

const tasksOf = (...tasks: object[]) => ({ tasks: taskSource(tasks as never) });
const loss = (columns: readonly string[], read: string) => ({
  key: 'own',
  columns,
  compute: (ops: never, { logprobs, columns: given }: never) => ({
    tokenLosses: (ops as { mul(...of: unknown[]): unknown }).mul(logprobs, given[read]),
  }),
});

describe('a run in which nothing can be learned stops after its first iteration', () => {
  describeMistakes([
    [
      'messages without a chat renderer',
      () => train({ environment: new ConversationEnvironment({ systemPrompt: 'a', maxTurns: 2 }) }),
      /all 8 episodes failed.*need a chat renderer: pass `chat: model.chat`/,
    ],
    [
      'a prompt with letters that the tokenizer lacks',
      () => train(tasksOf({ id: 'x', prompt: 'xyz' })),
      /"x" is not in the alphabet; add it/,
    ],
    [
      'a prompt of which the tokenizer leaves nothing',
      () => {
        const tokenizer = characterTokenizer('abc', { end: '.', unknown: '?' });
        const backend = new TabularBackend({ vocabularySize: tokenizer.vocabularySize, contextTokens: 1 });
        const sampler = new TabularSampler({ backend, tokenizer });
        return train({ ...tasksOf({ id: 'x', prompt: 'xyz' }), tokenizer, backend, sampler });
      },
      /nothing is left of the prompt of task "x": the tokenizer lacks 3 characters \(x y z\) of 1 prompt.*use a tokenizer/,
    ],
    [
      'a prompt longer than the context',
      () => train(tasksOf({ id: 'x', prompt: 'aaaa' }), { rollout: { groupSize: 4, contextLength: 4 } }),
      /prompt of task "x" has 4 tokens.*shorten it or raise contextLength/,
    ],
    [
      'a reward that throws',
      () => train(reward(({ task }: { task: { metadata: { answer: string } } }) => task.metadata.answer)),
      /none of 8 finished episodes got a reward: reward "k": Cannot read properties of undefined.*correct the reward/,
    ],
    [
      'a reward that is text',
      () => train(reward(() => '1')),
      /reward "k": expected a finite number or null, got "1"/,
    ],
    [
      'a reward that is never a number',
      () => train(reward(() => Number.NaN)),
      /reward "k": expected a finite number or null, got NaN/,
    ],
    [
      'a reward that is null for everything',
      () => train(reward(() => null)),
      /rewards of all 8 finished episodes are null; return a number/,
    ],
    [
      'a reward computer that rejects',
      () => train({ rewards: { computeRewards: () => Promise.reject(new Error('no table')) } }),
      /the reward computer failed: no table/,
    ],
    [
      'an environment that throws',
      () =>
        train(
          broken({
            reset: () => {
              throw new Error('no board');
            },
          }),
        ),
      /all 8 episodes failed, the first at the environment: environment\.reset: no board/,
    ],
    [
      'an environment that returns no state',
      () => train(broken({ updateState: () => undefined })),
      /updateState: expected a state/,
    ],
    [
      'a sampler that does not say whose weights it sampled with',
      () => train(vague()),
      /at the sampler: .*must have a number as policyVersion, got NaN/,
    ],
  ]);

  it('says what the first error was, with its stack, and where to continue', async () => {
    const mine = new Error('no board');
    const parts = smallRun(broken({ reset: () => Promise.reject(mine) }));
    const error: unknown = await train(parts).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RunStoppedError);
    expect(error).toMatchObject({
      cause: mine,
      reason: 'episodes-failed',
      state: { iteration: 0, taskCursor: 0 },
    });
    expect(parts.tasks.cursor).toBe(0);
  });
});

describe('a run whose rewards are all equal', () => {
  it('says so at once, and what to do', async () => {
    const algorithm = new GRPOAlgorithm(smallRun(reward(() => 1)) as never, smallOptions);
    const lines: string[] = [];
    const { notes } = await algorithm.train({ iterations: 3, print: (line) => void lines.push(line) });
    expect(notes).toEqual([
      expect.stringMatching(
        /^the rewards of every group are equal \(mean 1\).*make tasks easier.*\(3 times\)$/,
      ),
    ]);
    expect(lines.filter((line) => line.includes('are equal'))).toHaveLength(1);
  });

  describeMistakes([
    [
      'stops when it lasts',
      () =>
        train(
          reward(() => 1),
          smallOptions,
          30,
        ),
      /iteration 20: the rewards of every group are equal/,
    ],
  ]);
});

describe('what goes wrong while it learns says where', () => {
  describeMistakes([
    [
      'an estimator of the wrong shape',
      () => train({}, { ...smallOptions, advantages: () => [1, 2, 3] }),
      /advantages: expected a list of 2 groups, each with one advantage per trajectory, got 1 as one/,
    ],
    [
      'an estimator that gives NaN',
      () =>
        train(
          {},
          {
            ...smallOptions,
            advantages: (groups: { scored: unknown[] }[]) =>
              groups.map(({ scored }) => scored.map(() => Number.NaN)),
          },
        ),
      /a token of member 0 of group 0 must be finite, got NaN/,
    ],
    [
      'a loss with a misspelt column',
      () => train({ loss: loss(['advantage'], 'advantage') }),
      /loss "own" needs the columns advantage/,
    ],
    [
      'a loss that reads a column that it does not declare',
      () => train({ loss: loss([], 'advantages') }),
      /the loss "own" reads the column "advantages", which it does not declare/,
    ],
  ]);
});
