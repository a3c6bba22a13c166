import {
  type Message,
  parseOptions,
  type RewardFunction,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import * as z from 'zod';
import { callWithin } from '../functions/call-reward.ts';
import { clockSchema, signalSchema, timerMs } from '../shared/schemas.ts';

const schema = z.strictObject({
  /** Milliseconds that one call may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
  /** Mean milliseconds of a call from which a reward is reported as slow. Default 1000. */
  slowMs: z.number().positive().default(1000),
  /** Milliseconds since any fixed point. Default `performance.now`. */
  clock: clockSchema,
  /** Ends the trial with its reason. Default none. */
  signal: signalSchema.optional(),
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

/** What can be tried: a reward function, or a computer such as `reward({ … })`. */
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
 * Kind of a finding. `unscorable`: examples without a score. `constant`: the same score for all. `not-deterministic`: another score for the
 * same example. `out-of-range`: scores outside the documented range. `slow`: calls take long. `changes-input`: the reward writes to its
 * input. `follows-length`: scores correlate with the length of the response (over 0.95).
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
  /** One per example; `null` if unscorable. */
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
 * Tries rewards on examples, twice each, before a training run does: scores, failures, times, and what looks wrong.
 *
 * Never rejects because a reward misbehaves; rejects with the signal's reason.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export async function dryRun<Metadata>(
  rewards: Readonly<Record<string, DryRunSubject<Metadata>>>,
  examples: readonly DryRunExample<Metadata>[],
  options: DryRunOptions = {},
): Promise<DryRunReport> {
  const resolved = parseOptions('dryRun', schema, options);
  const reports: DryRunReward[] = [];
  for (const [name, subject] of Object.entries(rewards)) {
    const trajectories = examples.map(trajectoryOf);
    const before = JSON.stringify(trajectories);
    const first = await run(name, subject, trajectories, resolved);
    const hasChanged = JSON.stringify(trajectories) !== before;
    const second = await run(name, subject, examples.map(trajectoryOf), resolved);
    const meanMs = first.milliseconds.reduce((sum, each) => sum + each, 0) / Math.max(1, examples.length);
    const range = typeof subject === 'function' ? undefined : subject.range;
    const findings = [
      ...findingsOf(first, second, range),
      ...(hasChanged ? [{ kind: 'changes-input' as const, message: 'it writes to what it judges' }] : []),
      ...(meanMs >= resolved.slowMs
        ? [{ kind: 'slow' as const, message: `a call takes ${meanMs.toFixed(0)} ms` }]
        : []),
      ...lengthFinding(first.scores, examples),
    ];
    const longestMs = Math.max(0, ...first.milliseconds);
    reports.push({ name, scores: first.scores, failures: first.failures, meanMs, longestMs, findings });
  }
  return { examples: examples.length, rewards: reports };
}

async function run<Metadata>(
  name: string,
  subject: DryRunSubject<Metadata>,
  trajectories: readonly Trajectory<Metadata>[],
  { timeoutMs, clock, signal }: z.output<typeof schema>,
): Promise<Run> {
  const scores = new Array<number | null>(trajectories.length).fill(null);
  const failures: { readonly example: number; readonly message: string }[] = [];
  const milliseconds: number[] = [];
  for (const places of placesOf(subject, trajectories)) {
    const begun = clock();
    let given: readonly (number | null)[] = [];
    const call = async (context: { readonly signal: AbortSignal }) => {
      given = await scoresOf(
        subject,
        places.map((place) => trajectories[place]!),
        context,
      );
      return given.find((score) => score !== null && !Number.isFinite(score)) ?? 0;
    };
    const { failure } = await callWithin(name, call, { timeoutMs, signal });
    milliseconds.push(clock() - begun);
    for (const [k, place] of places.entries()) {
      if (failure === undefined) scores[place] = given[k] ?? null;
      else failures.push({ example: place, message: failure.error.message });
    }
  }
  return { scores, failures, milliseconds };
}

async function scoresOf<Metadata>(
  subject: DryRunSubject<Metadata>,
  trajectories: readonly Trajectory<Metadata>[],
  context: { readonly signal: AbortSignal },
): Promise<readonly (number | null)[]> {
  const call = typeof subject === 'function' ? subject : subject.reward;
  const [first] = trajectories;
  if (call !== undefined) return [await call(first!, context)];
  const group = { id: first!.id, task: first!.task, trajectories };
  const { computeRewards } = subject as Exclude<typeof subject, RewardFunction<Metadata>>;
  return (await computeRewards(group, context)).map(({ reward }) => reward);
}

/** Places of the examples that are judged together: those with the same prompt, or each alone. */
function placesOf<Metadata>(
  subject: DryRunSubject<Metadata>,
  trajectories: readonly Trajectory[],
): readonly (readonly number[])[] {
  if (typeof subject === 'function' || subject.reward !== undefined) return trajectories.map((_, k) => [k]);
  const prompts = [...new Set(trajectories.map(({ task }) => task.prompt))];
  return prompts.map((prompt) =>
    trajectories.flatMap(({ task }, place) => (task.prompt === prompt ? [place] : [])),
  );
}

function findingsOf(first: Run, second: Run, range: readonly [number, number] | undefined): DryRunFinding[] {
  const { scores } = first;
  const given = scores.filter((score) => score !== null);
  const missing = scores.length - given.length;
  const differing = scores.flatMap((score, k) => (Object.is(score, second.scores[k]) ? [] : [k]));
  const outside = range ? given.filter((score) => score < range[0] || score > range[1]) : [];
  const candidates: readonly (readonly [boolean, DryRunFindingKind, string])[] = [
    [missing > 0, 'unscorable', `${missing} of ${scores.length} examples have no score`],
    [given.length > 1 && new Set(given).size === 1, 'constant', `every example has the score ${given[0]}`],
    [
      differing.length > 0,
      'not-deterministic',
      `another score the second time: examples ${differing.join(', ')}`,
    ],
    [
      outside.length > 0,
      'out-of-range',
      `${outside.length} scores outside ${range?.join(' to ')}, such as ${outside[0]}`,
    ],
  ];
  return candidates.flatMap(([holds, kind, message]) => (holds ? [{ kind, message }] : []));
}

/** With fewer examples than this, scores go with the length by chance. */
const enoughForLength = 8;

function lengthFinding(
  scores: readonly (number | null)[],
  examples: readonly DryRunExample[],
): DryRunFinding[] {
  const pairs = scores.flatMap((score, k) =>
    score === null ? [] : [[score, examples[k]!.response.length] as const],
  );
  const correlation = pearson(pairs);
  if (pairs.length < enoughForLength || !(Math.abs(correlation) > 0.95)) return [];
  const message = `scores go with the length of the response (correlation ${correlation.toFixed(2)})`;
  return [{ kind: 'follows-length', message }];
}

/** Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²); NaN where one of them does not vary. */
function pearson(pairs: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let [xy, xx, yy] = [0, 0, 0];
  for (const [x, y] of pairs) {
    xy += (x - meanX) * (y - meanY);
    xx += (x - meanX) ** 2;
    yy += (y - meanY) ** 2;
  }
  return xy / Math.sqrt(xx * yy);
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
