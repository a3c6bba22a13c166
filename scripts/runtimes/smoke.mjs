/**
 * Trains a small policy and reads a batch of responses, with the built packages alone. Plain JavaScript without a
 * runtime's own modules: Node, Deno, Bun, browsers and Cloudflare Workers run it as it is.
 */
import { GRPOAlgorithm } from '@rlp/algorithms';
import { TabularBackend, TabularSampler } from '@rlp/backprop/tabular';
import { RandomStream } from '@rlp/core';
import { readJsonLines } from '@rlp/data';
import { arithmeticTasks, SimpleTextEnvironment, taskSource } from '@rlp/env';
import { byteTokenizer, characterTokenizer } from '@rlp/models';
import { flatMetrics, RewardQualityAssessor } from '@rlp/quality-monitor';
import { exactAnswer, rewardFunctions } from '@rlp/rewards';

function expectEqual(what, actual, expected) {
  if (!Object.is(actual, expected)) throw new Error(`${what}: expected ${expected}, got ${actual}`);
}

/** Mean reward of the first and the last iteration. */
async function train() {
  const tasks = arithmeticTasks({ digits: 1, count: 100 }).filter(
    ({ metadata }) => Number(metadata.answer) < 10,
  );
  const tokenizer = characterTokenizer('0123456789+=', { end: '<end>' });
  const { vocabularySize } = tokenizer;
  const backend = new TabularBackend({ vocabularySize, contextTokens: 4, learningRate: 0.5 });
  const accuracy = exactAnswer({ reference: ({ answer }) => answer, extract: (text) => text });
  const grpo = new GRPOAlgorithm(
    {
      environment: new SimpleTextEnvironment(),
      tasks: taskSource(tasks),
      rewards: rewardFunctions({ accuracy: { reward: accuracy } }),
      tokenizer,
      sampler: new TabularSampler({ backend, tokenizer }),
      backend,
    },
    { tasksPerIteration: 16, rollout: { groupSize: 16, sampling: { maxTokens: 1 } } },
  );
  const { history } = await grpo.train({ iterations: 30, print: 'none' });
  return [history.at(0)['reward/mean'], history.at(-1)['reward/mean']];
}

/** Throws at the first answer that is not what Node gives. Returns one line that says what ran. */
export async function smoke() {
  expectEqual('RandomStream', RandomStream.named(7, 'rollout', 'task-1', 0).uniform(), 0.2629759196114245);
  const tokenizer = byteTokenizer();
  expectEqual('byteTokenizer', tokenizer.decode(tokenizer.encode('größer')), 'größer');
  const responses = ['<reasoning>two and two are four</reasoning><answer>4</answer>', 'no tags'];
  const { metrics } = new RewardQualityAssessor().assessBatch({ responses, rewards: { accuracy: [1, 0] } });
  if (Object.keys(flatMetrics(metrics)).length === 0) throw new Error('RewardQualityAssessor: no metrics');
  expectEqual('readJsonLines', typeof readJsonLines, 'function');
  const [first, last] = await train();
  if (!(first < 0.3 && last > 0.9))
    throw new Error(`train: expected the reward to rise, got ${first} and ${last}`);
  return `learned: reward ${first.toFixed(2)} at first, ${last.toFixed(2)} at the end`;
}
