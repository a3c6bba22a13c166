import { parseOptions, type RewardComputer, type ScoredTrajectory, type Trajectory } from '@rlp/core';
import * as z from 'zod';
import { isJudged } from '../functions/score-trajectories.ts';
import { judgedWork, judgeRules } from './pointwise.ts';
import {
  JudgeSession,
  type JudgeStatistics,
  type JudgeSubject,
  judgeSchema,
  scaleSchema,
  unjudged,
} from './session.ts';
import { type JudgeTemplate, shownWork, templateSchema } from './template.ts';

/** The default prompt of {@link rubricJudge}. `{{criteria}}` lists names and descriptions, `{{lines}}` the lines to end with. */
export const rubricTemplate: JudgeTemplate = {
  system: judgeRules,
  user: `${judgedWork}

Judge it by each of these criteria alone, whatever you think of it by the others:
{{criteria}}

Weigh each criterion in a sentence. Then end with these lines, with a number from {{minimum}} (worst) to {{maximum}} (best) in
place of each NUMBER:
{{lines}}
(Each line begins with {{key}}.)`,
};

const criterion = z.strictObject({
  /** A word. Names the component and the judge's line. Required. */
  name: z.string().regex(/^[\w-]+$/, 'must be a word'),
  /** What is good, in words. Required. */
  description: z.string(),
  /** Share in the reward, above 0. Default 1. */
  weight: z.number().positive().optional(),
});

/** One thing that counts. */
export interface RubricCriterion extends Readonly<z.input<typeof criterion>> {}

const schema = judgeSchema.extend({
  /** What counts: at least one criterion. Required. */
  criteria: z
    .array(criterion)
    .min(1)
    .readonly()
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have different names'),
  /** Worst and best score of a criterion. Default `[1, 5]`. */
  scale: scaleSchema.default([1, 5]),
  /** Prompt of the judge. Default {@link rubricTemplate}. */
  template: templateSchema(rubricTemplate, ['key', 'response', 'lines']),
});

/** Options of {@link rubricJudge}. */
export interface RubricJudgeOptions<Metadata> extends z.input<typeof schema>, JudgeSubject<Metadata> {}

/** A reward computer that asks a model, with its counts. */
export interface JudgeComputer<Metadata, Statistics = JudgeStatistics> extends RewardComputer<Metadata> {
  getStatistics(): Statistics;
}

/**
 * A model's scores by several criteria in one call. Each is scaled to [0, 1] and is a component of the result. The reward is
 *
 *     r = Σ_k weight_k · score_k / Σ_k weight_k
 *
 * If a criterion's score is missing or out of scale, the verdict is `null` with a failure that says why, or 0 by `worstScoreFor`.
 *
 * @throws OptionsError for bad options: criteria that are none, unnamed, doubled or without weight, a template without a needed placeholder,
 * or an empty scale.
 */
export function rubricJudge<Metadata = unknown>(
  options: RubricJudgeOptions<Metadata>,
): JudgeComputer<Metadata> {
  const { show = shownWork, ...rest } = { ...options };
  const { criteria, scale, ...settings } = parseOptions('rubricJudge', schema, rest);
  const session = new JudgeSession('rubricJudge', settings);
  const names = criteria.map(({ name }) => name);
  const weights = criteria.map(({ weight = 1 }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const score = async (
    trajectory: Trajectory<Metadata>,
    signal: AbortSignal | undefined,
  ): Promise<ScoredTrajectory<Metadata>> => {
    if (!isJudged(trajectory)) return unjudged(trajectory, names, { signal });
    try {
      const shares = await session.score(show(trajectory), {
        ...{ name: ['rubric', trajectory.id], labels: names, scale, signal },
        fill: (window) => (quote, key) => ({
          task: quote('task', trajectory.task.prompt),
          response: quote(`response${window.label}`, window.text),
          criteria: criteria.map(({ name, description }) => `- ${name}: ${description}`).join('\n'),
          lines: names.map((name) => `${key} ${name}: NUMBER`).join('\n'),
          minimum: String(scale[0]),
          maximum: String(scale[1]),
        }),
      });
      return {
        trajectory,
        reward: shares.reduce((sum, share, k) => sum + share * weights[k]!, 0) / total,
        components: Object.fromEntries(names.map((name, k) => [name, shares[k]!])),
      };
    } catch (error) {
      return unjudged(trajectory, names, { error, signal });
    }
  };
  return {
    async computeRewards({ trajectories }, { signal } = {}) {
      signal?.throwIfAborted();
      return Promise.all(trajectories.map((trajectory) => score(trajectory, signal)));
    },
    getStatistics: () => session.getStatistics(),
  };
}
