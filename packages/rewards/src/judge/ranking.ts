import { parseOptions, RandomStream } from '@rlp/core';
import * as z from 'zod';
import { isJudged, unscored } from '../functions/score-trajectories.ts';
import { judgeRules } from './pointwise.ts';
import type { JudgeComputer } from './rubric.ts';
import { type JudgePrompt, JudgeSession, judgeSchema, unjudged } from './session.ts';
import { checkTemplate, type JudgeTemplate, taskText } from './template.ts';
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
});

/** Options of {@link rankingJudge}. */
export interface RankingJudgeOptions<Metadata> extends z.input<typeof schema>, JudgePrompt<Metadata> {}

/**
 * A model's scores of all responses of a group in one call, from 0 to 1, relative to each other: what group-relative advantages need,
 * without a reference answer or a rubric per task. The order is drawn anew for each round.
 *
 * A verdict that does not score every response exactly once is discarded. A group without a verdict gets `null`s with a failure that
 * says why, or zeros with `worstScoreFor`.
 *
 * @throws OptionsError for bad options, ArgumentError for a template without a needed placeholder.
 * @see OpenPipe 2025, RULER, https://openpipe.ai/blog/ruler
 */
export function rankingJudge<Metadata = unknown>({
  show = ({ response }) => response,
  template = rankingTemplate,
  ...options
}: RankingJudgeOptions<Metadata>): JudgeComputer<Metadata> {
  const { rubric, rounds, ...settings } = parseOptions('rankingJudge', schema, options);
  const session = new JudgeSession('rankingJudge', settings);
  checkTemplate('rankingJudge', template, {
    required: ['key', 'responses', 'lines'],
    optional: ['task', 'rubric'],
  });

  const about = { session, rubric, template };
  return {
    async computeRewards({ id, task, trajectories }, { signal } = {}) {
      signal?.throwIfAborted();
      const scorable = trajectories.filter(isJudged);
      const judged = scorable.map(show);
      const numbers = Array.from({ length: judged.length === 0 ? 0 : rounds }, (_, round) => round);
      const verdicts = await Promise.allSettled(
        numbers.map((round) => judgeRound(about, { id, task: taskText(task), judged, round, signal })),
      );
      const given = verdicts.flatMap((verdict) => (verdict.status === 'fulfilled' ? [verdict.value] : []));
      const error = verdicts.find((verdict) => verdict.status === 'rejected')?.reason;
      signal?.throwIfAborted();
      return trajectories.map((trajectory) => {
        const index = scorable.indexOf(trajectory);
        if (index < 0) return unscored(trajectory, ['ranking']);
        if (given.length === 0) return unjudged(trajectory, ['ranking'], { error, signal });
        const ranking = given.reduce((sum, scores) => sum + scores[index]!, 0) / given.length;
        return { trajectory, reward: ranking, components: { ranking } };
      });
    },
    getStatistics: () => session.getStatistics(),
  };
}

interface RankingRound {
  readonly id: string;
  readonly task: string;
  readonly judged: readonly string[];
  readonly round: number;
  readonly signal: AbortSignal | undefined;
}

/** Scores in the order of `judged`, shown in an order of the round's own. */
async function judgeRound(
  {
    session,
    rubric,
    template,
  }: { readonly session: JudgeSession; readonly rubric: string; readonly template: JudgeTemplate },
  { id, task, judged, round, signal }: RankingRound,
): Promise<readonly number[]> {
  const name = ['ranking', id, round] as const;
  const order = RandomStream.named(session.seed, 'order', ...name).shuffle([...judged.keys()]);
  const shown = order.map((index) => judged[index]!);
  const scores = await session.ask({
    name,
    texts: [task, ...shown],
    signal,
    template,
    fill: (quote, key) => ({
      rubric,
      task: quote('task', task),
      responses: shown.map((text, k) => quote(`response ${k + 1}`, text)).join('\n\n'),
      lines: shown.map((_, k) => `${key} ${k + 1}: NUMBER`).join('\n'),
    }),
    read: (lines) => readRanking(lines, shown.length),
    worst: shown.map(() => 0),
  });
  return judged.map((_, index) => scores[order.indexOf(index)]!);
}

/** One score for each of the responses shown, and nothing else. */
function readRanking(lines: ReadonlyMap<string, string>, count: number): number[] | undefined {
  if (lines.size !== count) return;
  const labels = Array.from({ length: count }, (_, k) => String(k + 1));
  return readScores(lines, labels, [0, 1]);
}
