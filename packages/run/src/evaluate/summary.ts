import { passAtK } from '@rlp/algorithms/statistics';
import {
  ArgumentError,
  type EvaluatedTask,
  type Evaluation,
  type Measure,
  plural,
  type ScoredTrajectory,
  type Task,
} from '@rlp/core';
import { componentNames } from './component-names.ts';
import { meanOf, measureOf, shareOf } from './intervals.ts';
import { majorityAtK } from './majority.ts';
import type { ResolvedSettings } from './options.ts';
import type { ScoredTask } from './scored-task.ts';
import { unscoredOf } from './unscored.ts';

/** What a summary is made with. */
export interface SummaryContext {
  readonly settings: ResolvedSettings;
  readonly policyVersion: number;
  readonly answer?: ((response: string) => string | undefined) | undefined;
  readonly notes: readonly string[];
}

/** The record of an evaluation. */
export function summary(
  groups: readonly ScoredTask[],
  tasks: readonly Task[],
  { settings, policyVersion, answer, notes }: SummaryContext,
): Evaluation {
  const { name, seed, samples, confidence } = settings;
  const evaluated = withCorrectness(
    groups.map((group) => evaluatedTask(group, settings)),
    settings,
  );
  const unscored = unscoredOf(groups, tasks.length * samples);
  const accuracy = shareOf(correctnessOf(evaluated), confidence);
  return {
    record: 'evaluation',
    ...{ name, seed, policyVersion, samples, confidence },
    ...(accuracy !== undefined && {
      accuracy: accuracy.value,
      ...(accuracy.low !== undefined && { low: accuracy.low, high: accuracy.high }),
      interval: accuracy.interval,
    }),
    ...present(
      'reward',
      measured(evaluated, ({ rewards }) => rewards, confidence),
    ),
    components: componentsOf(evaluated, confidence),
    ...atEachK(groups, evaluated, settings, answer),
    ...present('categories', categoriesOf(evaluated, confidence)),
    ...lengthsOf(groups),
    unscored,
    notes: [...notes, ...noteOf(unscored, tasks.length * samples)],
    tasks: evaluated,
  };
}

function evaluatedTask({ task, trajectories }: ScoredTask, { category }: ResolvedSettings): EvaluatedTask {
  const value = category === undefined ? undefined : categoryOf(task, category);
  return {
    task: task.id,
    ...present('category', value),
    rewards: trajectories.map(({ reward }) => reward),
    components: Object.fromEntries(
      componentNames(trajectories).map((name) => [
        name,
        trajectories.map(({ components }) => components[name] ?? null),
      ]),
    ),
    tokens: trajectories.map((scored) => tokensOf(scored)),
  };
}

function categoryOf({ id, metadata }: Task, key: string): string {
  const value = (metadata as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  throw new ArgumentError(
    `evaluate: task "${id}" has no text in metadata.${key}; every task needs one, or leave out category`,
  );
}

const tokensOf = ({ trajectory }: ScoredTrajectory) =>
  trajectory.steps.reduce((sum, { tokens }) => sum + tokens.length, 0);

/** Adds which responses are right, if the scores say so. */
function withCorrectness(
  tasks: readonly EvaluatedTask[],
  { metric, correctFrom }: ResolvedSettings,
): readonly EvaluatedTask[] {
  const scoresOf = (task: EvaluatedTask) => (metric === undefined ? task.rewards : task.components[metric]);
  if (metric !== undefined) requireMetric(tasks, metric);
  const given = tasks.flatMap((task) => (scoresOf(task) ?? []).filter((score) => score !== null));
  if (correctFrom === undefined && given.some((score) => score !== 0 && score !== 1)) return tasks;
  const isRight = (score: number) => score >= (correctFrom ?? 1);
  return tasks.map((task) => {
    const scores = scoresOf(task) ?? task.rewards.map(() => null);
    return { ...task, correct: scores.map((score) => (score === null ? null : isRight(score))) };
  });
}

function requireMetric(tasks: readonly EvaluatedTask[], metric: string): void {
  const names = componentNames(tasks);
  if (names.length === 0 || names.includes(metric)) return;
  throw new ArgumentError(
    `evaluate: metric must be a part of the reward, one of ${names.join(', ')}, got "${metric}"`,
  );
}

/** 1 and 0 by task, of the responses that were scored. Tasks without any are left out. */
function correctnessOf(tasks: readonly EvaluatedTask[]): number[][] {
  return tasks
    .map(({ correct = [] }) => correct.filter((right) => right !== null).map(Number))
    .filter(({ length }) => length > 0);
}

function measured(
  tasks: readonly EvaluatedTask[],
  scoresOf: (task: EvaluatedTask) => readonly (number | null)[],
  confidence: number,
): Measure | undefined {
  const scores = tasks.map((task) => scoresOf(task).filter((score) => score !== null));
  return measureOf(
    scores.filter(({ length }) => length > 0),
    confidence,
  );
}

function componentsOf(tasks: readonly EvaluatedTask[], confidence: number): Record<string, Measure> {
  return measuresBy(componentNames(tasks), (name) =>
    measured(tasks, ({ components }) => components[name] ?? [], confidence),
  );
}

/** Measures by name, without those that do not exist. */
function measuresBy<Name extends string | number>(
  names: readonly Name[],
  measure: (name: Name) => Measure | undefined,
): Record<string, Measure> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const found = measure(name);
      return found === undefined ? [] : [[String(name), found]];
    }),
  );
}

/** pass@k and maj@k over the tasks with at least k scored responses. */
function atEachK(
  groups: readonly ScoredTask[],
  tasks: readonly EvaluatedTask[],
  { k, confidence }: ResolvedSettings,
  answer: SummaryContext['answer'],
): Pick<Evaluation, 'passAt' | 'majorityAt'> {
  const correct = correctnessOf(tasks);
  const passAt = byK(k, (each) => {
    const enough = correct.filter(({ length }) => length >= each);
    return shareOf(
      enough.map((row) => [passAtK([row], each)]),
      confidence,
      enough.flat().length,
    );
  });
  if (answer === undefined) return present('passAt', passAt);
  const majorityAt = byK(k, (each) => {
    const votes = groups.map((group, place) => votesOf(group, tasks[place]!, answer));
    const blocks = votes.map((vote) => majorityAtK(vote, each)).filter(({ length }) => length > 0);
    return shareOf(blocks, confidence);
  });
  return { ...present('passAt', passAt), ...present('majorityAt', majorityAt) };
}

function byK(k: readonly number[], measure: (each: number) => Measure | undefined) {
  const measures = measuresBy(k, measure);
  return Object.keys(measures).length === 0 ? undefined : measures;
}

function votesOf(
  { trajectories }: ScoredTask,
  { correct = [] }: EvaluatedTask,
  answer: (response: string) => string | undefined,
) {
  const scored = trajectories.filter((_, member) => (correct[member] ?? null) !== null);
  return {
    answers: scored.map(({ trajectory }) => answer(trajectory.response)),
    correct: correct.filter((right) => right !== null).map(Number),
  };
}

function categoriesOf(tasks: readonly EvaluatedTask[], confidence: number): Evaluation['categories'] {
  const names = new Set(tasks.flatMap(({ category }) => (category === undefined ? [] : [category])));
  if (names.size === 0) return undefined;
  return Object.fromEntries(
    [...names].sort().map((name) => {
      const own = tasks.filter(({ category }) => category === name);
      return [
        name,
        {
          ...present('accuracy', shareOf(correctnessOf(own), confidence)),
          ...present(
            'reward',
            measured(own, ({ rewards }) => rewards, confidence),
          ),
        },
      ];
    }),
  );
}

/** Lengths of responses that ended by themselves or at a limit. */
function lengthsOf(groups: readonly ScoredTask[]): Pick<Evaluation, 'lengths' | 'truncated'> {
  const ended = groups
    .flatMap(({ trajectories }) => trajectories)
    .filter(({ trajectory: { status } }) => status === 'completed' || status === 'truncated');
  if (ended.length === 0) return {};
  const tokens = ended.map(tokensOf).sort((a, b) => a - b);
  const at = (fraction: number) => tokens[Math.ceil(fraction * tokens.length) - 1]!;
  return {
    lengths: {
      mean: meanOf(tokens),
      median: at(0.5),
      p90: at(0.9),
      max: tokens.at(-1)!,
    },
    truncated: ended.filter(({ trajectory }) => isCut(trajectory)).length / ended.length,
  };
}

/** Whether a limit cut the episode or its last response. */
const isCut = ({ status, steps }: ScoredTrajectory['trajectory']) =>
  status === 'truncated' || steps.at(-1)?.stopReason === 'length';

function noteOf({ count, causes }: Evaluation['unscored'], wanted: number): string[] {
  if (count === 0) return [];
  const reasons = Object.entries(causes).map(([cause, times]) => `${cause} (${times})`);
  return [
    `${count} of ${plural(wanted, 'response')} ${count === 1 ? 'has' : 'have'} no score and count in no number: ${reasons.join('; ')}.`,
  ];
}

/** An object with one field, or without it. */
function present<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: Value };
}
