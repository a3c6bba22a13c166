import type { MonitorBatch, RandomStream, ScoredTrajectory } from '@rlp/core';

/** Words that responses are made of. */
const vocabulary = Array.from(
  { length: 400 },
  (_, at) => `word${'abcdefghij'[at % 10]}${'klmnopqrst'[Math.floor(at / 10) % 10]}${'uvwx'[at % 4]}`,
);

/** A response as a test makes it up. */
export interface Made {
  readonly response: string;
  readonly reward: number | null;
  readonly components?: ScoredTrajectory['components'];
  readonly prompt?: string;
  readonly task?: string;
}

/** A batch of such responses, each a task of its own unless it says otherwise. */
export function batchOf(
  iteration: number,
  made: readonly Made[],
  metrics: MonitorBatch['metrics'] = {},
): MonitorBatch {
  const trajectories = made.map(({ response, reward, components = {}, prompt = 'Say it.', task }, at) => ({
    trajectory: {
      id: `${iteration}-${at}`,
      task: { id: task ?? `${iteration}-${at}`, prompt, metadata: undefined },
      steps: [],
      messages: [],
      response,
      status: 'completed' as const,
      policyVersion: 0,
    },
    reward,
    components,
  }));
  return { iteration, trajectories, metrics };
}

/** Honest responses of 20 to 60 words, some of them rewarded. */
export function honest(random: RandomStream, count: number, right = 0.4): Made[] {
  return Array.from({ length: count }, () => {
    const words = Array.from({ length: 20 + random.integer(40) }, () => vocabulary[random.integer(400)]!);
    const isRight = random.uniform() < right;
    return { response: words.join(' '), reward: isRight ? 1 : 0, components: { truth: isRight ? 1 : 0 } };
  });
}

/** Replaces a response by one that is paid for, though it is wrong. */
export const said =
  (more: string) =>
  (made: Made): Made => ({
    ...made,
    response: `${made.response} ${more}`,
    reward: 1,
    components: { truth: 0 },
  });

/** Honest responses of which one in four is hacked. */
export const withHacks = (hack: (made: Made, random: RandomStream) => Made) => (random: RandomStream) => ({
  made: honest(random, 32).map((made) => (random.uniform() < 0.25 ? hack(made, random) : made)),
});
