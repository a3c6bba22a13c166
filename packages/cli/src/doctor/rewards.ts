import { messageOf, plural, type RewardFunction, type Task } from '@rlp/core';
import { dryRun } from '@rlp/rewards/authoring';
import { checkRunRewards, type RunConfig } from '@rlp/run';
import { readEvaluationData } from '../eval-data.ts';
import type { Finding } from './finding.ts';

/** Grades the right answer and a wrong one of the first ten tasks of a file. */
export async function checkRewards(
  path: string,
  grader: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  try {
    const { tasks, rewards, benchmark, name } = await readEvaluationData(path, {
      grader,
      limit: 10,
      signal,
      style: 'completion',
    });
    if (tasks === undefined || rewards === undefined) {
      return [
        {
          name: 'rewards',
          state: 'fine',
          text: `${path} is the benchmark ${name}, ${plural(benchmark!.tasks.length, 'task')} read`,
        },
      ];
    }
    return await Promise.all(
      Object.entries(rewards).map(([each, reward]) => tried(each, reward, tasks, signal)),
    );
  } catch (error) {
    signal?.throwIfAborted();
    return [{ name: 'rewards', state: 'problem', text: messageOf(error) }];
  }
}

/** Scores the answers of the first ten rows of a run by its own rewards. */
export async function checkRewardsOfRun(
  config: RunConfig,
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  try {
    const parts = await checkRunRewards(config, { signal });
    return parts.map(({ name, answers, rewarded, failure }): Finding => {
      const title = `rewards: ${name}`;
      if (answers === 0) return { name: title, state: 'problem', text: failure ?? 'no answer got a score' };
      const text = `${rewarded} of ${plural(answers, 'answer')}, as the rows write them, ${rewarded === 1 ? 'scores' : 'score'} above 0`;
      return { name: title, state: rewarded === 0 ? 'note' : 'fine', text };
    });
  } catch (error) {
    signal?.throwIfAborted();
    return [{ name: 'data and rewards', state: 'problem', text: messageOf(error) }];
  }
}

async function tried(
  name: string,
  reward: RewardFunction,
  tasks: readonly Task[],
  signal: AbortSignal | undefined,
): Promise<Finding> {
  const answers = tasks.map(({ metadata }) => (metadata as { readonly answer: string }).answer);
  const example = (response: string, place: number) => {
    return { prompt: tasks[place]!.id, response, metadata: tasks[place]!.metadata };
  };
  const examples = [...answers.map(example), ...answers.map((_, place) => example('I do not know.', place))];
  const report = await dryRun({ [name]: reward }, examples, signal === undefined ? {} : { signal });
  const [{ scores, failures }] = report.rewards as [(typeof report.rewards)[number]];
  const right = scores.slice(0, tasks.length).filter((score) => score === 1).length;
  const wrong = scores.slice(tasks.length).filter((score) => score !== null && score > 0).length;
  const title = `rewards: ${name}`;
  if (failures.length > 0) return { name: title, state: 'problem', text: failures[0]!.message };
  const text = `${right} of ${tasks.length} right answers score 1, ${wrong} empty answers score above 0`;
  return { name: title, state: right === tasks.length && wrong === 0 ? 'fine' : 'problem', text };
}
