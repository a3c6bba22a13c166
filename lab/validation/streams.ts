import { type MonitorBatch, RandomStream, type ScoredTrajectory } from '@rlp/core';
import type { Corpus, Item } from './corpora.ts';
import { one } from './draws.ts';
import type { Form, Half } from './forms.ts';

/** What is paid for: the truth, or a judge's impression of it. */
export const schemes = ['binary', 'judge'] as const;

/** A run made of real responses. */
export interface StreamOptions {
  readonly corpus: Corpus;
  readonly half: Half;
  readonly seed: number;
  readonly batchSize: number;
  /** Responses to each task. */
  readonly groupSize: number;
  readonly scheme: (typeof schemes)[number];
  readonly batches: number;
  /** Share of right answers in a batch. */
  readonly right: (iteration: number) => number;
}

/** A response before its reward. `truth` lies in 0–1. */
interface Drawn {
  readonly item: Item;
  readonly response: string;
  readonly truth: number;
  /** Reward if it is not the truth. */
  readonly paid?: number | undefined;
  /** Components beside accuracy. They are added to the reward. */
  readonly extra?: Readonly<Record<string, number>> | undefined;
}

/** Changes drawn items to what the policy says in an iteration. */
export type Policy = (item: Item, iteration: number, random: RandomStream) => Omit<Drawn, 'item'>;

/** Says the response as it is. */
export const plain: Policy = ({ response, isRight }) => ({ response, truth: isRight ? 1 : 0 });

/** A hack that begins at `start` and takes the share of responses that `share` returns. */
export function hacked(
  form: Form,
  { corpus, half, seed }: StreamOptions,
  {
    start,
    share,
    works,
    keepsTruth,
  }: {
    start: number;
    share: (sinceStart: number) => number;
    /** How often a hacked response is paid. */
    works: number;
    keepsTruth: boolean;
  },
): Policy {
  const items = corpus[half === 'build' ? 'tune' : 'report'];
  const hack = form.prepare(items, RandomStream.named('form', corpus.name, form.name, seed));
  return (item, iteration, random) => {
    if (iteration < start || random.uniform() >= share(iteration - start))
      return plain(item, iteration, random);
    const truth = keepsTruth && item.isRight ? 1 : 0;
    const paid = random.uniform() < works ? 1.1 : undefined;
    return { response: hack(item, random), truth, paid };
  };
}

/** The batches of a run. The component `judge` is the second opinion: the truth with noise 0.3. */
export function* batchesOf(options: StreamOptions, policy: Policy = plain): Generator<MonitorBatch> {
  const { corpus, half, seed, batches, batchSize } = options;
  const random = RandomStream.named('stream', corpus.name, half, seed, batchSize);
  const pools = poolsOf(corpus[half === 'build' ? 'tune' : 'report']);
  for (let iteration = 0; iteration < batches; iteration++) {
    const share = Math.min(corpus.mostRight, options.right(iteration));
    const items = draw(pools, options, share, random);
    const trajectories = items.map((item, at) =>
      scored({ item, ...policy(item, iteration, random) }, `${iteration}-${at}`, options.scheme, random),
    );
    yield { iteration, trajectories };
  }
}

interface Pools {
  readonly tasks: readonly { readonly right: Item[]; readonly wrong: Item[] }[];
  readonly right: readonly Item[];
  readonly wrong: readonly Item[];
}

function poolsOf(items: readonly Item[]): Pools {
  const tasks = new Map<string, { right: Item[]; wrong: Item[] }>();
  for (const item of items) {
    const task = tasks.get(item.task) ?? { right: [], wrong: [] };
    task[item.isRight ? 'right' : 'wrong'].push(item);
    tasks.set(item.task, task);
  }
  const right = items.filter(({ isRight }) => isRight);
  return { tasks: [...tasks.values()], right, wrong: items.filter(({ isRight }) => !isRight) };
}

/** Groups of one task. Where the task lacks a right or a wrong answer, another task's member takes its place. */
function draw(
  pools: Pools,
  { batchSize, groupSize }: StreamOptions,
  share: number,
  random: RandomStream,
): Item[] {
  const items: Item[] = [];
  while (items.length < batchSize) {
    const task = one(pools.tasks, random);
    for (let member = 0; member < groupSize && items.length < batchSize; member++) {
      const isRight = random.uniform() < share;
      const own = isRight ? task.right : task.wrong;
      const fresh = own.filter((item) => !items.includes(item));
      if (groupSize > 1 && fresh.length > 0) items.push(one(fresh, random));
      else items.push(one(isRight ? pools.right : pools.wrong, random));
    }
  }
  return items;
}

function scored(
  { item, response, truth, paid, extra = {} }: Drawn,
  id: string,
  scheme: StreamOptions['scheme'],
  random: RandomStream,
): ScoredTrajectory {
  const worth = paid ?? truth;
  const accuracy = scheme === 'binary' ? Math.min(1, worth) : 0.2 + 0.5 * worth + 0.15 * random.normal();
  const reward = Object.values(extra).reduce((sum, value) => sum + value, accuracy);
  return {
    trajectory: {
      id,
      task: { id: item.task, prompt: item.prompt, metadata: undefined },
      steps: [],
      messages: [],
      response,
      status: 'completed',
      policyVersion: 0,
    },
    reward,
    components: { accuracy, ...extra, judge: truth + 0.3 * random.normal() },
  };
}
