import {
  ArgumentError,
  parseOptions,
  type RewardComputer,
  type ScoredTrajectory,
  type Trajectory,
} from '@rlp/core';
import { isJudged, unscored } from '../functions/score-trajectories.ts';
import { checkScale, judgeRules } from './pointwise.ts';
import { type JudgeOptions, JudgeSession, type JudgeStatistics, judgeSchema, unjudged } from './session.ts';
import { checkTemplate, type FillTemplate, type JudgeTemplate, taskText } from './template.ts';
import { readScores } from './verdict-lines.ts';

/** One thing that counts. */
export interface RubricCriterion {
  /** A word. Names the component and the judge's line. */
  readonly name: string;
  /** What is good, in words. */
  readonly description: string;
  /** Positive. Default 1. */
  readonly weight?: number | undefined;
}

/** The default prompt of {@link rubricJudge}. `{{criteria}}` lists names and descriptions, `{{lines}}` the lines to end with. */
export const rubricTemplate: JudgeTemplate = {
  system: judgeRules,
  user: `The task:
{{task}}

The response to judge:
{{response}}

Judge it by each of these criteria alone, whatever you think of it by the others:
{{criteria}}

Weigh each criterion in a sentence. Then end with these lines, with a number from {{minimum}} (worst) to {{maximum}} (best) in
place of each NUMBER:
{{lines}}
(Each line begins with {{key}}.)`,
};

const templateNames = {
  required: ['key', 'response', 'lines'],
  optional: ['task', 'criteria', 'minimum', 'maximum'],
};

/** Options of {@link rubricJudge}. */
export interface RubricJudgeOptions<Metadata> extends JudgeOptions<Metadata> {
  /** What counts: at least one criterion. Required. */
  readonly criteria: readonly RubricCriterion[];
  /** Worst and best score of a criterion. Default `[1, 5]`. */
  readonly scale?: readonly [number, number] | undefined;
}

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
 * @throws OptionsError for bad options, ArgumentError for criteria that are none, unnamed, doubled or without weight, a template
 * without a needed placeholder, or an empty scale.
 */
export function rubricJudge<Metadata = unknown>({
  criteria,
  scale = [1, 5],
  show = ({ response }) => response,
  template = rubricTemplate,
  ...options
}: RubricJudgeOptions<Metadata>): JudgeComputer<Metadata> {
  const session = new JudgeSession('rubricJudge', parseOptions('rubricJudge', judgeSchema, options));
  checkTemplate('rubricJudge', template, templateNames);
  checkScale('rubricJudge', scale);
  checkCriteria(criteria);
  const about = { criteria, scale };
  const names = criteria.map(({ name }) => name);

  const score = async (trajectory: Trajectory<Metadata>, signal: AbortSignal | undefined) => {
    if (!isJudged(trajectory)) return unscored(trajectory, names);
    const question = taskText(trajectory.task);
    try {
      const scores = await session.score(show(trajectory), ({ text, part, label }) => {
        const fillWith = filling(question, `response${label}`, about);
        return session.ask<readonly number[]>({
          name: ['rubric', trajectory.id, ...part],
          texts: [question, text],
          signal,
          template,
          fill: fillWith(text),
          fillEmpty: fillWith(''),
          read: (lines) => readScores(lines, names, scale),
          worst: names.map(() => scale[0]),
        });
      });
      return weighed(trajectory, scores, about);
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

/** What a rubric is made of. */
interface Rubric {
  readonly criteria: readonly RubricCriterion[];
  readonly scale: readonly [number, number];
}

/** Fills the template to ask about a response. */
function filling(question: string, name: string, about: Rubric): (response: string) => FillTemplate {
  return (response) => (quote, key) => ({
    task: quote('task', question),
    response: quote(name, response),
    ...placeholders(about, key),
  });
}

/** What the template shows of a rubric. */
function placeholders({ criteria, scale: [minimum, maximum] }: Rubric, key: string) {
  return {
    criteria: criteria.map(({ name, description }) => `- ${name}: ${description}`).join('\n'),
    lines: criteria.map(({ name }) => `${key} ${name}: NUMBER`).join('\n'),
    minimum: String(minimum),
    maximum: String(maximum),
  };
}

function weighed<Metadata>(
  trajectory: Trajectory<Metadata>,
  scores: readonly number[],
  { criteria, scale }: Rubric,
): ScoredTrajectory<Metadata> {
  const shares = scores.map((score) => (score - scale[0]) / (scale[1] - scale[0]));
  const weights = criteria.map(({ weight = 1 }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return {
    trajectory,
    reward: shares.reduce((sum, share, k) => sum + share * weights[k]!, 0) / total,
    components: Object.fromEntries(criteria.map(({ name }, k) => [name, shares[k]!])),
  };
}

function checkCriteria(criteria: readonly RubricCriterion[]): void {
  const names = criteria.map(({ name }) => name);
  const areNamed = names.every((name) => /^[\w-]+$/.test(name)) && new Set(names).size === names.length;
  const areWeighted = criteria.every(({ weight = 1 }) => Number.isFinite(weight) && weight > 0);
  if (names.length > 0 && areNamed && areWeighted) return;
  throw new ArgumentError(
    `rubricJudge: criteria must be at least one, named by different words, with positive weights, got ${JSON.stringify(criteria)}`,
  );
}
