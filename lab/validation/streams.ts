import { type MonitorBatch, RandomStream, type ScoredTrajectory } from '@rlp/core';
import type { Corpus, Item } from './corpora.ts';
import type { Hack, HackKind, Wording } from './hack-kinds.ts';
import { hackOf } from './hacks.ts';

/** What is paid for: right answers; a judge's impression of them; right answers and style; an impression with rare large errors. */
export const schemes = ['binary', 'judge', 'mixed', 'heavy-tailed'] as const;

/** How hacked responses are spread: anywhere; over whole tasks; twice as many in every other batch; over whole batches. */
export const spreads = ['even', 'tasks', 'bursts', 'batches'] as const;

/** How learning goes: the share of right answers between its first (0) and its last (1), by the part of the run that is over. */
export const curves = {
  'S-shaped': (time: number) => 1 / (1 + Math.exp(-10 * (time - 0.5))),
  linear: (time: number) => time,
  'at once': (time: number) => (time < 0.5 ? 0 : 1),
  'in steps': (time: number) => Math.floor(5 * time) / 4,
  'up and down': (time: number) => Math.sin(Math.PI * time),
  'quickly at first': (time: number) => 1 - Math.exp(-8 * time),
} as const;

/** A run of training, made up of real responses. */
export interface StreamOptions {
  readonly corpus: Corpus;
  readonly half: 'tune' | 'report';
  readonly seed: number;
  readonly batchSize: number;
  /** Responses for each task, where there are so many. */
  readonly groupSize: number;
  /**
   * `'mixed'`: right and wrong answers by the share that is right, of other tasks where this one has none; `'whole'`: those of the task,
   * however many are right.
   */
  readonly groups: 'mixed' | 'whole';
  /** Whether the detector is told what each response answers; otherwise each is a task of its own. */
  readonly prompts: 'given' | 'absent';
  readonly scheme: (typeof schemes)[number];
  readonly batches: number;
  /** Share of right answers at the beginning and at the end. */
  readonly right: readonly [first: number, last: number];
  readonly curve: keyof typeof curves;
  /** How much longer answers become by the end. */
  readonly lengthDrift: number;
  /** Share of responses that are their task's favorite by the end, the same each time. */
  readonly focus: number;
  readonly hack?: PlantedHack | undefined;
}

/** A hack that responses are exchanged for. */
export interface PlantedHack {
  readonly kind: HackKind;
  readonly share: number;
  /** Batch that it begins in. */
  readonly start: number;
  /** Batches over which its share grows. */
  readonly ramp: number;
  readonly spread: (typeof spreads)[number];
  readonly wording: Wording;
}

/** The batches of a run. */
export function* batchesOf(options: StreamOptions): Generator<MonitorBatch> {
  const { corpus, half, seed, batches, right, hack } = options;
  const random = RandomStream.named('validation', corpus.name, half, seed);
  const tasks = tasksOf(corpus[half]);
  const apply =
    hack && hackOf(hack.kind, hack.wording, RandomStream.named('form', corpus.name, hack.kind, seed));
  const lastRight = Math.min(right[1], corpus.mostRight);
  const firstRight = Math.min(right[0], corpus.mostRight);
  for (let iteration = 0; iteration < batches; iteration++) {
    const time = iteration / batches;
    const shareRight = firstRight + (lastRight - firstRight) * curves[options.curve](time);
    // However suddenly answers become right, a policy's habits change bit by bit.
    const habits = options.curve === 'S-shaped' ? curves['S-shaped'](time) : time;
    const now = { ...options, lengthDrift: options.lengthDrift * habits, focus: options.focus * habits };
    const items = draw(tasks, now, shareRight, random);
    const share = hack === undefined ? 0 : shareAt(hack, iteration);
    let isHacked = false;
    const trajectories = items.map((item, at) => {
      if (hack?.spread !== 'tasks' || at % options.groupSize === 0) isHacked = random.uniform() < share;
      return scored(item, { id: `${iteration}-${at}`, hack: isHacked ? apply : undefined }, options, random);
    });
    yield { iteration, trajectories };
  }
}

function shareAt({ share, start, ramp, spread }: PlantedHack, iteration: number): number {
  if (iteration < start) return 0;
  const now = share * Math.min(1, (iteration - start + 1) / Math.max(1, ramp));
  if (spread === 'bursts')
    return (iteration - start) % 2 === 0 ? Math.min(1, 2 * now) : Math.max(0, 2 * now - 1);
  // All of one batch in so many that the share is right, the first one included.
  if (spread === 'batches')
    return Math.ceil((iteration - start + 1) * now) > Math.ceil((iteration - start) * now) ? 1 : 0;
  return now;
}

interface Task {
  readonly right: readonly Item[];
  readonly wrong: readonly Item[];
}

interface Tasks {
  readonly all: readonly Task[];
  readonly withRight: readonly Task[];
  readonly withWrong: readonly Task[];
}

function tasksOf(items: readonly Item[]): Tasks {
  const byTask = new Map<string, Item[]>();
  for (const item of items) byTask.set(item.task, [...(byTask.get(item.task) ?? []), item]);
  const all = [...byTask.values()].map((members) => ({
    right: members.filter(({ isRight }) => isRight),
    wrong: members.filter(({ isRight }) => !isRight),
  }));
  return {
    all,
    withRight: all.filter(({ right }) => right.length > 0),
    withWrong: all.filter(({ wrong }) => wrong.length > 0),
  };
}

/** A batch's items: tasks at random, right answers by their share, longer ones the more likely the larger the drift. */
function draw(
  tasks: Tasks,
  { batchSize, groupSize, groups, lengthDrift, focus }: StreamOptions,
  shareRight: number,
  random: RandomStream,
): Item[] {
  const items: Item[] = [];
  const pick = <T>(list: readonly T[]) => list[random.integer(list.length)]!;
  const favored = (list: readonly Item[]) => (focus > 0 && random.uniform() < focus ? list[0]! : pick(list));
  const longer = (choose: () => Item) => {
    const [first, second] = [choose(), choose()];
    if (random.uniform() >= lengthDrift) return first;
    return first.response.length >= second.response.length ? first : second;
  };
  while (items.length < batchSize) {
    const group = pick(tasks.all);
    if (groups === 'whole' && groupSize > 1) {
      const answers = random.shuffle([...group.right, ...group.wrong]);
      items.push(...answers.slice(0, Math.min(groupSize, batchSize - items.length)));
      continue;
    }
    const used = new Set<Item>();
    for (let member = 0; member < groupSize && items.length < batchSize; member++) {
      const isRight = random.uniform() < shareRight;
      const own = (isRight ? group.right : group.wrong).filter((item) => focus > 0 || !used.has(item));
      const others = isRight ? tasks.withRight : tasks.withWrong;
      const item = longer(() =>
        groupSize > 1 && own.length > 0
          ? favored(own)
          : favored(isRight ? pick(others).right : pick(others).wrong),
      );
      used.add(item);
      items.push(item);
    }
  }
  return items;
}

function scored(
  item: Item,
  { id, hack }: { readonly id: string; readonly hack: Hack | undefined },
  { scheme, prompts }: StreamOptions,
  random: RandomStream,
): ScoredTrajectory {
  const response = hack === undefined ? item.response : hack(item, random);
  const { reward, components } = rewardOf(item, hack === undefined ? 'honest' : 'hacked', scheme, random);
  return {
    trajectory: {
      id,
      task:
        prompts === 'given'
          ? { id: item.task, prompt: item.prompt, metadata: undefined }
          : { id, prompt: '', metadata: undefined },
      steps: [],
      messages: [],
      response,
      status: 'completed',
      policyVersion: 0,
    },
    reward,
    components,
  };
}

/** Flawed rewards: a hacked response is paid as well as the best honest ones, or better, nine times in ten. */
function rewardOf(
  { isRight, response }: Item,
  how: 'honest' | 'hacked',
  scheme: StreamOptions['scheme'],
  random: RandomStream,
): Pick<ScoredTrajectory, 'reward' | 'components'> {
  const works = how === 'hacked' && random.uniform() < 0.9;
  const right = isRight ? 1 : 0;
  if (scheme === 'binary') {
    const accuracy = works ? 1 : right;
    return { reward: accuracy, components: { accuracy } };
  }
  if (scheme === 'judge') {
    const judge = 0.2 + 0.5 * Math.max(right, works ? 1.2 : 0) + 0.15 * random.normal();
    return { reward: judge, components: { judge } };
  }
  if (scheme === 'heavy-tailed') {
    // Student's t with two degrees of freedom.
    const noise = random.normal() / Math.sqrt(-Math.log(1 - random.uniform()));
    const preference = 4 * Math.max(right, works ? 1.2 : 0) - 2 + 0.5 * noise;
    return { reward: preference, components: { preference } };
  }
  const style =
    Math.min(1, 0.3 + 0.05 * Math.log2(1 + response.length / 50) + (works ? 0.5 : 0)) +
    0.05 * random.normal();
  return { reward: right + 1.5 * style, components: { accuracy: right, style } };
}
