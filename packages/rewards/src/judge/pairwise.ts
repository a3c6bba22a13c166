import { parseOptions, type Task, type Trajectory, type TrajectoryGroup } from '@rlp/core';
import * as z from 'zod';
import { isJudged } from '../functions/score-trajectories.ts';
import { type TextWindow, windowsBeside } from './long-text.ts';
import { judgeRules } from './pointwise.ts';
import type { JudgeComputer } from './rubric.ts';
import { JudgeSession, type JudgeStatistics, type JudgeSubject, judgeSchema, unjudged } from './session.ts';
import { type JudgeTemplate, shownWork, templateSchema } from './template.ts';

/** Which of two responses is better. `neither`: the verdict failed and `worstScoreFor` names the cause. `null`: the orders disagree. */
export type PairWinner = 'first' | 'second' | 'tie' | 'neither' | null;

/** Counts of a pairwise judge. */
export interface PairwiseStatistics extends JudgeStatistics {
  /** Pairs with a verdict in both orders. */
  readonly compared: number;
  /** Of these, pairs judged alike in both orders. */
  readonly consistent: number;
  /** Of these, pairs in which both orders chose what was shown first, or both what was shown second. */
  readonly favouredFirst: number;
  readonly favouredSecond: number;
  /** `(favouredFirst − favouredSecond) / compared`: 0 without bias, 1 if the first shown always wins. `null` before any pair. */
  readonly positionBias: number | null;
}

/** The default prompt of {@link pairwiseJudge}: `{{first}}` and `{{second}}` are the responses in the order shown. */
export const pairwiseTemplate: JudgeTemplate = {
  system: judgeRules,
  user: `The task:
{{task}}

Response A:
{{first}}

Response B:
{{second}}

What counts:
{{rubric}}

Compare the responses in a few sentences; their order means nothing. Then end with one line in exactly this form, with A, B or tie
in place of CHOICE:
{{key}} winner: CHOICE`,
};

const schema = judgeSchema.extend({
  /** What counts, in words. Default `'How well each response does what the task asks.'`. */
  rubric: z.string().default('How well each response does what the task asks.'),
  /** Verdict on a pair on which the two orders disagree. Default `'tie'`. */
  disagreement: z.enum(['tie', 'null']).default('tie'),
  /** Siblings that each trajectory meets, around the group's circle. Default: all. */
  opponents: z.int().positive().default(Number.MAX_SAFE_INTEGER),
  /** Prompt of the judge. Default {@link pairwiseTemplate}. */
  template: templateSchema(pairwiseTemplate, ['key', 'first', 'second']),
});

/** Options of {@link pairwiseJudge}. */
export interface PairwiseJudgeOptions<Metadata> extends z.input<typeof schema>, JudgeSubject<Metadata> {}

/** Compares two responses, and scores groups by who wins. */
export interface PairwiseJudge<Metadata> extends JudgeComputer<Metadata, PairwiseStatistics> {
  /** Compares two responses to a task, each shown first once. Rejects if the judge fails. */
  compare(
    task: Task,
    responses: readonly [string, string],
    options?: { readonly name?: string | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<PairWinner>;
}

/** Points of the first and the second. */
const points = { first: [1, 0], tie: [0.5, 0.5], second: [0, 1], neither: [0, 0] } as const;

/**
 * A model's comparisons of two responses at a time, each pair in both orders. A pair on which the orders disagree is a tie (or
 * `null`), and the judge's leaning to a position is counted and reported.
 *
 * As a reward computer it gives each trajectory the mean of its points against the siblings it met: 1 a win, ½ a tie, 0 a loss. Pairs
 * without a verdict do not count, or are lost by both with `worstScoreFor`. A trajectory without any, or alone in its group, gets
 * `null`. If the judge failed, a failure says why.
 *
 * Cost: `2 · n (n − 1) / 2` calls for a group of `n`, or `2 · n · opponents`.
 *
 * @throws OptionsError for bad options and a template without a needed placeholder.
 * @see Zheng et al. 2023, §3.3, https://arxiv.org/abs/2306.05685 (position bias); Wang et al. 2023, https://arxiv.org/abs/2305.17926
 */
export function pairwiseJudge<Metadata = unknown>(
  options: PairwiseJudgeOptions<Metadata>,
): PairwiseJudge<Metadata> {
  const { show = shownWork, ...rest } = { ...options };
  const { rubric, disagreement, opponents, ...settings } = parseOptions('pairwiseJudge', schema, rest);
  const session = new JudgeSession('pairwiseJudge', settings);
  const counts = { compared: 0, consistent: 0, favouredFirst: 0, favouredSecond: 0 };
  const compareWindows = async (
    task: Task,
    windows: readonly TextWindow[],
    {
      name,
      signal,
    }: { readonly name: readonly (string | number)[]; readonly signal: AbortSignal | undefined },
  ): Promise<PairWinner> => {
    const asking = [[0, 1] as const, [1, 0] as const].map(([first, second], round) =>
      session.ask<Choice | 'neither'>({
        ...{ name: ['pairwise', ...name, round], signal, worst: 'neither' },
        shown: [windows[first]!, windows[second]!],
        fill: (shown) => (quote) => ({
          rubric,
          task: quote('task', task.prompt),
          first: quote(`response A${shown[0]!.label}`, shown[0]!.text),
          second: quote(`response B${shown[1]!.label}`, shown[1]!.text),
        }),
        read: (lines) => choices.get(lines.get('winner')?.toLowerCase() ?? ''),
      }),
    );
    await Promise.allSettled(asking);
    const [forth, back] = (await Promise.all(asking)) as [Choice | 'neither', Choice | 'neither'];
    return agreed(forth, back, { counts, disagreement });
  };
  const compare: PairwiseJudge<Metadata>['compare'] = async (
    task,
    responses,
    { name = task.id, signal } = {},
  ) => {
    const { rows, hasGaps } = windowsBeside(responses, settings.maximumCharacters);
    const comparing = rows.map((windows, row) =>
      compareWindows(task, windows, { name: row === 0 ? [name] : [name, row], signal }),
    );
    await Promise.allSettled(comparing);
    const winners = await Promise.all(comparing);
    return winners.length === 1 ? winners[0]! : winnerOfWindows(winners, hasGaps);
  };
  return {
    compare,
    computeRewards: async (group, { signal } = {}) => {
      signal?.throwIfAborted();
      const meet: Meeting<Metadata> = (a, b) =>
        compare(group.task, [show(a), show(b)], { name: `${a.id} ${b.id}`, signal });
      return playedOut(group, meet, { opponents, signal });
    },
    getStatistics: () => ({ ...session.getStatistics(), ...counts, positionBias: biasOf(counts) }),
  };
}

/** Comparisons, and how they ended. */
type Counts = Record<'compared' | 'consistent' | 'favouredFirst' | 'favouredSecond', number>;

/** The winner that both orders name, which are counted. */
function agreed(
  forth: Choice | 'neither',
  back: Choice | 'neither',
  {
    counts,
    disagreement,
  }: {
    readonly counts: Counts;
    readonly disagreement: z.output<typeof schema>['disagreement'];
  },
): PairWinner {
  if (forth === 'neither' || back === 'neither') return 'neither';
  counts.compared += 1;
  if (forth === back && forth !== 'tie') counts[forth === 'A' ? 'favouredFirst' : 'favouredSecond'] += 1;
  const winner = winnerBy[forth];
  if (winner !== winnerBy[swapped[back]]) return disagreement === 'tie' ? 'tie' : null;
  counts.consistent += 1;
  return winner;
}

/** How much more often the first place won both orders than the second. `null` before a comparison. */
function biasOf({ compared, favouredFirst, favouredSecond }: Counts): number | null {
  return compared === 0 ? null : (favouredFirst - favouredSecond) / compared;
}

/** The worst window of each counts: who loses in one has not won. */
function winnerOfWindows(winners: readonly PairWinner[], hasGaps: readonly boolean[]): PairWinner {
  if (winners.includes('neither')) return 'neither';
  const [first, second] = (['second', 'first'] as const).map(
    (other, k) => hasGaps[k] || winners.includes(other),
  );
  return first === second ? 'tie' : first ? 'second' : 'first';
}

type Choice = 'A' | 'B' | 'tie';
const winnerBy = { A: 'first', B: 'second', tie: 'tie' } as const;
const swapped = { A: 'B', B: 'A', tie: 'tie' } as const;
const choices: ReadonlyMap<string, Choice> = new Map(
  (['A', 'B', 'tie'] as const).map((one) => [one.toLowerCase(), one]),
);

/** Compares two trajectories. */
type Meeting<Metadata> = (a: Trajectory<Metadata>, b: Trajectory<Metadata>) => Promise<PairWinner>;

/** What became of a trajectory's comparisons. */
interface Played {
  points: number;
  games: number;
  /** Why a comparison has no winner. */
  error?: unknown;
}

/** Lets the scorable trajectories of a group meet, and scores each by its mean points. */
async function playedOut<Metadata>(
  { trajectories }: TrajectoryGroup<Metadata>,
  meet: Meeting<Metadata>,
  { opponents, signal }: { readonly opponents: number; readonly signal: AbortSignal | undefined },
) {
  const players = trajectories.filter(isJudged);
  const won = new Map(players.map((player): [typeof player, Played] => [player, { points: 0, games: 0 }]));
  const play = async ([a, b]: readonly [Trajectory<Metadata>, Trajectory<Metadata>]) => {
    const [one, other] = [won.get(a)!, won.get(b)!];
    const winner = await meet(a, b).catch((error: unknown) => {
      one.error = error;
      other.error = error;
      return null;
    });
    if (winner === null) return;
    one.points += points[winner][0];
    other.points += points[winner][1];
    one.games += 1;
    other.games += 1;
  };
  await Promise.all(pairsOf(players, opponents).map(play));
  signal?.throwIfAborted();
  return trajectories.map((trajectory) => {
    const record = won.get(trajectory);
    if (record === undefined || record.games === 0) {
      return unjudged(trajectory, ['winRate'], { error: record?.error, signal });
    }
    const winRate = record.points / record.games;
    return { trajectory, reward: winRate, components: { winRate } };
  });
}

/** Each with the next `opponents` around the circle, no pair twice. */
function pairsOf<Item>(items: readonly Item[], opponents: number): [Item, Item][] {
  const pairs = new Map<string, [Item, Item]>();
  for (let one = 0; one < items.length; one++) {
    for (let step = 1; step <= Math.min(opponents, items.length - 1); step++) {
      const other = (one + step) % items.length;
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      pairs.set(`${low} ${high}`, [items[low]!, items[high]!]);
    }
  }
  return [...pairs.values()];
}
