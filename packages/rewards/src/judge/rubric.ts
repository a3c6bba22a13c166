import { ArgumentError, type RewardComputer, type ScoredTrajectory, type Trajectory } from '@rlp/core';
import { checkScale, judgeRules } from './pointwise.ts';
import { isScorable, unscored } from './scored.ts';
import { type JudgeOptions, JudgeSession, type JudgeStatistics } from './session.ts';
import { checkTemplate, fenced, fillTemplate, type JudgeTemplate, taskText } from './template.ts';
import { readScore, readVerdictLines } from './verdict-lines.ts';

/** One thing that counts. */
export interface RubricCriterion {
  /** A word; names the component and the judge's line. */
  readonly name: string;
  /** What is good, in words. */
  readonly description: string;
  /** Positive. Default 1. */
  readonly weight?: number | undefined;
}

/** The default prompt of {@link rubricJudge}; `{{criteria}}` lists names and descriptions, `{{lines}}` the lines to end with. */
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

/** Options of {@link rubricJudge}. */
export interface RubricJudgeOptions<Metadata> extends JudgeOptions {
  readonly criteria: readonly RubricCriterion[];
  /** Worst and best score of a criterion. Default [1, 5]. */
  readonly scale?: readonly [number, number] | undefined;
  /** What of a trajectory is judged. Default: its response. */
  readonly show?: ((trajectory: Trajectory<Metadata>) => string) | undefined;
  /** Default {@link rubricTemplate}. */
  readonly template?: JudgeTemplate | undefined;
}

/** A reward computer that asks a model, with its counts. */
export interface JudgeComputer<Metadata, Statistics = JudgeStatistics> extends RewardComputer<Metadata> {
  getStatistics(): Statistics;
}

/**
 * A model's scores by several criteria in one call. Each is scaled to [0, 1] and is a component of the result; the reward is
 *
 *     r = Σ_k weight_k · score_k / Σ_k weight_k
 *
 * A verdict in which any criterion's score is missing or out of scale is no verdict: `null`, and counted.
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
  const session = new JudgeSession('rubricJudge', options);
  checkTemplate('rubricJudge', template, {
    required: ['key', 'response', 'lines'],
    optional: ['task', 'criteria', 'minimum', 'maximum'],
  });
  checkScale('rubricJudge', scale);
  checkCriteria(criteria);
  const names = criteria.map(({ name }) => name);
  const listed = criteria.map(({ name, description }) => `- ${name}: ${description}`).join('\n');

  const ask = (trajectory: Trajectory<Metadata>, signal: AbortSignal | undefined) => {
    const texts = [taskText(trajectory.task), show(trajectory)];
    return session.ask({
      name: ['rubric', trajectory.id],
      texts,
      signal,
      messages: (key) => {
        const limits = { key, maximumCharacters: session.maximumCharacters };
        return fillTemplate(template, {
          key,
          task: fenced('task', texts[0]!, limits),
          response: fenced('response', texts[1]!, limits),
          criteria: listed,
          lines: names.map((name) => `${key} ${name}: NUMBER`).join('\n'),
          minimum: String(scale[0]),
          maximum: String(scale[1]),
        });
      },
      read: (output, key) => {
        const lines = readVerdictLines(output, key);
        const scores = names.map((name) => readScore(lines?.get(name), scale));
        return scores.every((score) => score !== undefined) ? scores : undefined;
      },
    });
  };

  const score = async (trajectory: Trajectory<Metadata>, signal: AbortSignal | undefined) => {
    const scores = isScorable(trajectory) ? await ask(trajectory, signal) : null;
    return scores === null ? unscored(trajectory, names) : weighed(trajectory, scores, { criteria, scale });
  };

  return {
    async computeRewards({ trajectories }, { signal } = {}) {
      signal?.throwIfAborted();
      return Promise.all(trajectories.map((trajectory) => score(trajectory, signal)));
    },
    getStatistics: () => session.getStatistics(),
  };
}

function weighed<Metadata>(
  trajectory: Trajectory<Metadata>,
  scores: readonly number[],
  {
    criteria,
    scale,
  }: { readonly criteria: readonly RubricCriterion[]; readonly scale: readonly [number, number] },
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
