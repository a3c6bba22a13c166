import { parseOptions, RandomStream, type TrajectoryGroup } from '@rlp/core';
import * as z from 'zod';
import { isJudged } from '../functions/score-trajectories.ts';
import { windowsBeside } from './long-text.ts';
import { judgeRules } from './pointwise.ts';
import type { JudgeComputer } from './rubric.ts';
import { JudgeSession, type JudgeSubject, judgeSchema, unjudged } from './session.ts';
import { type JudgeTemplate, shownWork, templateSchema } from './template.ts';
import { readScores } from './verdict-lines.ts';

/** The default prompt of {@link rankingJudge}: `{{responses}}` are all responses, numbered, `{{lines}}` the lines to end with. */
export const rankingTemplate: JudgeTemplate = {
  system: judgeRules,
  user: `The task:
{{task}}

Several responses to it, in random order:

{{responses}}

What counts:
{{rubric}}

Compare them with each other in a few sentences. A response that does what the task asks scores well above one that does not; among
those that do, better ones score higher; small differences make small gaps. Then end with these lines, with a number from 0 to 1 in
place of each NUMBER:
{{lines}}
(Each line begins with {{key}}.)`,
};

const schema = judgeSchema.extend({
  /** What counts, in words. Default `'How well each response does what the task asks.'`. */
  rubric: z.string().default('How well each response does what the task asks.'),
  /** Times a group is judged, each time in another order. The scores are averaged. Default 1. */
  rounds: z.int().positive().default(1),
  /** Prompt of the judge. Default {@link rankingTemplate}. */
  template: templateSchema(rankingTemplate, ['key', 'responses', 'lines']),
});

/** Options of {@link rankingJudge}. */
export interface RankingJudgeOptions<Metadata> extends z.input<typeof schema>, JudgeSubject<Metadata> {}

/**
 * A model's scores of all responses of a group in one call, from 0 to 1, relative to each other: what group-relative advantages need,
 * without a reference answer or a rubric per task. The order is drawn anew for each round.
 *
 * The worst window of a long response counts. A verdict that does not score every response exactly once is discarded. A group without a
 * verdict gets `null`s with a failure that says why, or zeros with `worstScoreFor`.
 *
 * @throws OptionsError for bad options and a template without a needed placeholder.
 * @see OpenPipe 2025, RULER, https://openpipe.ai/blog/ruler
 */
export function rankingJudge<Metadata = unknown>(
  options: RankingJudgeOptions<Metadata>,
): JudgeComputer<Metadata> {
  const { show = shownWork, ...rest } = { ...options };
  const { rubric, rounds, ...settings } = parseOptions('rankingJudge', schema, rest);
  const session = new JudgeSession('rankingJudge', settings);
  /** Scores in the order of `judged`, shown in an order of the round's own. */
  const judgeRound = async (
    { id, task }: TrajectoryGroup<Metadata>,
    judged: readonly string[],
    { round, signal }: { readonly round: number; readonly signal: AbortSignal | undefined },
  ): Promise<readonly number[]> => {
    const name = ['ranking', id, round] as const;
    const order = RandomStream.named(session.seed, 'order', ...name).shuffle([...judged.keys()]);
    const labels = order.map((_, k) => String(k + 1));
    const shuffled = order.map((index) => judged[index]!);
    const { rows, hasGaps } = windowsBeside(shuffled, settings.maximumCharacters);
    const asking = rows.map((windows, row) =>
      session.ask<readonly number[]>({
        ...{ name: row === 0 ? name : [...name, row], signal, worst: labels.map(() => 0), shown: windows },
        fill: (shown) => (quote, key) => ({
          rubric,
          task: quote('task', task.prompt),
          responses: shown
            .map(({ text, label }, k) => quote(`response ${labels[k]}${label}`, text))
            .join('\n\n'),
          lines: labels.map((label) => `${key} ${label}: NUMBER`).join('\n'),
        }),
        // One score for each of the responses shown, and nothing else.
        read: (lines) => (lines.size === labels.length ? readScores(lines, labels, [0, 1]) : undefined),
      }),
    );
    await Promise.allSettled(asking);
    const scores = await Promise.all(asking);
    return judged.map((_, index) => {
      const place = order.indexOf(index);
      return hasGaps[place] ? 0 : Math.min(...scores.map((row) => row[place]!));
    });
  };
  return {
    async computeRewards(group, { signal } = {}) {
      signal?.throwIfAborted();
      const { trajectories } = group;
      const scorable = trajectories.filter(isJudged);
      const judged = scorable.map(show);
      const numbers = Array.from({ length: judged.length === 0 ? 0 : rounds }, (_, round) => round);
      const verdicts = await Promise.allSettled(
        numbers.map((round) => judgeRound(group, judged, { round, signal })),
      );
      signal?.throwIfAborted();
      const { given, error } = parted(verdicts);
      return trajectories.map((trajectory) => {
        const index = scorable.indexOf(trajectory);
        if (index < 0) return unjudged(trajectory, ['ranking'], { signal });
        if (given.length === 0) return unjudged(trajectory, ['ranking'], { error, signal });
        const ranking = given.reduce((sum, scores) => sum + scores[index]!, 0) / given.length;
        return { trajectory, reward: ranking, components: { ranking } };
      });
    },
    getStatistics: () => session.getStatistics(),
  };
}

/** Results of calls that ended well, and why another did not. */
function parted<Value>(settled: readonly PromiseSettledResult<Value>[]) {
  return {
    given: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    error: settled.find((one) => one.status === 'rejected')?.reason as unknown,
  };
}
