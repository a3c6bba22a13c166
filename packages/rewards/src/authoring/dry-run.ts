import {
  ArgumentError,
  abortSignal,
  type Message,
  parseOptions,
  plural,
  type RewardFunction,
  type Trajectory,
  type TrajectoryGroup,
  timerMs,
} from '@rlp/core';
import * as z from 'zod';
import { callWithin } from '../functions/call-reward.ts';
import { clockSchema } from '../shared/schemas.ts';

const schema = z.strictObject({
  /** Milliseconds that one call may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
  /** Mean milliseconds of a call from which a reward is reported as slow. Default 1000. */
  slowMs: z.number().positive().default(1000),
  /** Milliseconds since any fixed point. Default `performance.now`. */
  clock: clockSchema,
  /** Ends the trial with its reason. Default none. */
  signal: abortSignal.optional(),
});

/** Options of {@link dryRun}. */
export interface DryRunOptions extends z.input<typeof schema> {}

/** An episode to try rewards on. Those with the same prompt are a group. */
export interface DryRunExample<Metadata = unknown> {
  readonly prompt: string;
  readonly response: string;
  readonly metadata: Metadata;
  /** The conversation. Default: the prompt and the response. */
  readonly messages?: readonly Message[] | undefined;
}

/** What can be tried, a reward function or a computer such as `reward({ … })`. */
export type DryRunSubject<Metadata> =
  | RewardFunction<Metadata>
  | {
      readonly computeRewards: (
        group: TrajectoryGroup<Metadata>,
        options: { readonly signal: AbortSignal },
      ) => Promise<readonly { readonly reward: number | null }[]>;
      readonly reward?: RewardFunction<Metadata> | undefined;
      readonly range?: readonly [number, number] | undefined;
    };

/**
 * Kind of a finding.
 *
 * - `unscorable`: examples without a score.
 * - `constant`: the same score for all.
 * - `not-deterministic`: another score for the same example.
 * - `out-of-range`: scores outside the documented range.
 * - `slow`: calls take long.
 * - `changes-input`: the reward writes to its input.
 * - `follows-length`: scores correlate with the length of the response (over 0.95).
 */
export type DryRunFindingKind =
  | 'unscorable'
  | 'constant'
  | 'not-deterministic'
  | 'out-of-range'
  | 'slow'
  | 'changes-input'
  | 'follows-length';

/** Something that looks wrong. */
export interface DryRunFinding {
  readonly kind: DryRunFindingKind;
  readonly message: string;
}

/** How one reward did. */
export interface DryRunReward {
  readonly name: string;
  /** One per example. `null` if unscorable. */
  readonly scores: readonly (number | null)[];
  /** Why examples have no score, if the reward broke. */
  readonly failures: readonly { readonly example: number; readonly message: string }[];
  /** Mean time from call to score, per example. */
  readonly meanMs: number;
  readonly longestMs: number;
  readonly findings: readonly DryRunFinding[];
}

/** How rewards did on examples. */
export interface DryRunReport {
  readonly examples: number;
  readonly rewards: readonly DryRunReward[];
}

interface Run {
  readonly scores: readonly (number | null)[];
  readonly failures: DryRunReward['failures'];
  readonly milliseconds: readonly number[];
}

/**
 * Tries rewards on examples, twice each, before a training run does. Reports scores, failures, times, and what looks wrong.
 *
 * Never rejects because a reward misbehaves. Rejects with the signal's reason.
 */
export async function dryRun<Metadata>(
  rewards: Readonly<Record<string, DryRunSubject<Metadata>>>,
  examples: readonly DryRunExample<Metadata>[],
  options: DryRunOptions = {},
): Promise<DryRunReport> {
  const resolved = parseOptions('dryRun', schema, options);
  if (!Array.isArray(examples as unknown)) throw new ArgumentError('dryRun: expected a list of examples');
  const reports: DryRunReward[] = [];
  for (const [name, subject] of Object.entries(rewards)) {
    const trajectories = examples.map(trajectoryOf);
    const before = JSON.stringify(trajectories);
    const first = await run(name, subject, trajectories, resolved);
    const hasChanged = JSON.stringify(trajectories) !== before;
    const second = await run(name, subject, examples.map(trajectoryOf), resolved);
    const { scores, failures, milliseconds } = first;
    const meanMs = milliseconds.reduce((sum, each) => sum + each, 0) / Math.max(1, examples.length);
    const findings = [
      ...findingsOf(scores, second.scores, typeof subject === 'function' ? undefined : subject.range),
      ...(hasChanged ? [finding('changes-input', 'it writes to what it judges')] : []),
      ...(meanMs >= resolved.slowMs ? [finding('slow', `a call takes ${meanMs.toFixed(0)} ms`)] : []),
      ...lengthFinding(scores, examples),
    ];
    reports.push({ name, scores, failures, meanMs, longestMs: Math.max(0, ...milliseconds), findings });
  }
  return { examples: examples.length, rewards: reports };
}

/** Scores the trajectories one by one, or those with the same prompt together if only a group can be judged. */
async function run<Metadata>(
  name: string,
  subject: DryRunSubject<Metadata>,
  trajectories: readonly Trajectory<Metadata>[],
  { timeoutMs, clock, signal }: z.output<typeof schema>,
): Promise<Run> {
  const one = typeof subject === 'function' ? subject : subject.reward;
  const groups = new Map<unknown, number[]>();
  for (const [k, { task }] of trajectories.entries()) {
    const key = one === undefined ? task.prompt : k;
    groups.set(key, [...(groups.get(key) ?? []), k]);
  }
  const scores = new Array<number | null>(trajectories.length).fill(null);
  const failures: { readonly example: number; readonly message: string }[] = [];
  const milliseconds: number[] = [];
  for (const places of groups.values()) {
    const [first, ...others] = places.map((place) => trajectories[place]!);
    let given: readonly (number | null)[] = [];
    const call = async (context: { readonly signal: AbortSignal }) => {
      if (one !== undefined) given = [await one(first!, context)];
      else given = await rewardsOf(subject, [first!, ...others], context);
      return given.find((score) => score !== null && !Number.isFinite(score)) ?? 0;
    };
    const begun = clock();
    const { failure } = await callWithin(name, call, { timeoutMs, signal });
    milliseconds.push(clock() - begun);
    for (const [k, place] of places.entries()) {
      if (failure === undefined) scores[place] = given[k] ?? null;
      else failures.push({ example: place, message: failure.error.message });
    }
  }
  return { scores, failures, milliseconds };
}

async function rewardsOf<Metadata>(
  subject: DryRunSubject<Metadata>,
  trajectories: readonly [Trajectory<Metadata>, ...Trajectory<Metadata>[]],
  context: { readonly signal: AbortSignal },
): Promise<readonly (number | null)[]> {
  const { computeRewards } = subject as Exclude<typeof subject, RewardFunction<Metadata>>;
  const [{ id, task }] = trajectories;
  return (await computeRewards({ id, task, trajectories }, context)).map(({ reward }) => reward);
}

const finding = (kind: DryRunFindingKind, message: string): DryRunFinding => ({ kind, message });

function findingsOf(
  scores: readonly (number | null)[],
  again: readonly (number | null)[],
  [lowest, highest]: readonly [number, number] = [-Infinity, Infinity],
): DryRunFinding[] {
  const findings: DryRunFinding[] = [];
  const given = scores.filter((score) => score !== null);
  const missing = scores.length - given.length;
  const differing = scores.flatMap((score, k) => (Object.is(score, again[k]) ? [] : [k]));
  const outside = given.filter((score) => score < lowest || score > highest);
  if (missing > 0)
    findings.push(finding('unscorable', `no score: ${missing} of ${plural(scores.length, 'example')}`));
  if (given.length > 1 && new Set(given).size === 1)
    findings.push(finding('constant', `every example has the score ${given[0]}`));
  if (differing.length > 0)
    findings.push(
      finding('not-deterministic', `another score the second time: examples ${differing.join(', ')}`),
    );
  if (outside.length > 0) {
    const message = `${outside.length} scores outside ${lowest} to ${highest}, such as ${outside[0]}`;
    findings.push(finding('out-of-range', message));
  }
  return findings;
}

/** With fewer examples than this, scores go with the length by chance. */
const enoughForLength = 8;

function lengthFinding(
  scores: readonly (number | null)[],
  examples: readonly DryRunExample[],
): DryRunFinding[] {
  const scored = examples.filter((_, k) => scores[k] !== null);
  const correlation = pearson(
    scores.filter((score) => score !== null),
    scored.map(({ response }) => response.length),
  );
  if (scored.length < enoughForLength || !(Math.abs(correlation) > 0.95)) return [];
  const message = `scores go with the length of the response (correlation ${correlation.toFixed(2)})`;
  return [finding('follows-length', message)];
}

/** Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²). NaN if one of them does not vary. */
function pearson(xs: readonly number[], ys: readonly number[]): number {
  const deviations = (values: readonly number[]) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.map((value) => value - mean);
  };
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, k) => sum + value * b[k]!, 0);
  const [x, y] = [deviations(xs), deviations(ys)];
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y));
}

function trajectoryOf<Metadata>(example: DryRunExample<Metadata>, k: number): Trajectory<Metadata> {
  const { prompt, response, metadata } = example;
  const messages = example.messages ?? [
    { role: 'user', content: prompt },
    { role: 'assistant', content: response },
  ];
  // A step for each thing the assistant said, so that step outputs find theirs.
  const steps = messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => ({
      promptTokens: [],
      tokens: [],
      behaviorLogprobs: [],
      text: content,
      stopReason: 'stop' as const,
    }));
  return {
    id: `dry-run/${k}`,
    task: { id: prompt, prompt, metadata: structuredClone(metadata) },
    steps,
    messages: structuredClone(messages),
    response,
    status: 'completed',
    policyVersion: 0,
  };
}

/**
 * A report for people: a line per reward with its lowest, mean and highest score and its time, then what looks wrong.
 *
 * @param options.scores - Also every score, a line per example.
 */
export function formatDryRun(
  { examples, rewards }: DryRunReport,
  options: { readonly scores?: 'shown' | 'left-out' | undefined } = {},
): string {
  const lines = [`${plural(examples, 'example')}`];
  for (const { name, scores, failures, meanMs, findings } of rewards) {
    const given = scores.filter((score) => score !== null);
    const mean = given.reduce((sum, score) => sum + score, 0) / given.length;
    const spread =
      given.length === 0
        ? 'no scores'
        : `${shown(Math.min(...given))} … ${shown(mean)} … ${shown(Math.max(...given))}`;
    lines.push(`${name}: ${spread}, ${shown(meanMs)} ms per example`);
    for (const { kind, message } of findings) lines.push(`  ! ${kind}: ${message}`);
    for (const { example, message } of failures.slice(0, 3)) lines.push(`  example ${example}: ${message}`);
    if (failures.length > 3) lines.push(`  and ${plural(failures.length - 3, 'more failure')}`);
    if (options.scores === 'shown') {
      lines.push(...scores.map((score, k) => `  example ${k}: ${score === null ? 'null' : shown(score)}`));
    }
  }
  return lines.join('\n');
}

function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}
