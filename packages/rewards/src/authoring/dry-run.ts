import {
  type Message,
  parseOptions,
  type RewardFunction,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import * as z from 'zod';
import { callReward } from '../functions/call-reward.ts';
import { clockSchema, timerMs } from '../shared/schemas.ts';

const schema = z.strictObject({
  timeoutMs: timerMs.default(30_000),
  slowMs: z.number().positive().default(1000),
  clock: clockSchema,
  signal: z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal').optional(),
});

/** Options of {@link dryRun}. */
export interface DryRunOptions {
  /** Milliseconds that one call may take. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  /** From which mean time of a call on a reward is called slow. Default 1000. */
  readonly slowMs?: number | undefined;
  /** Milliseconds since any fixed point. Default `performance.now`. */
  readonly clock?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
}

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
 * What looks wrong. `unscorable`: examples without a score. `constant`: the same score for everything, so nothing to learn from.
 * `not-deterministic`: another score for the same example. `out-of-range`: scores outside the documented range. `slow`: calls take long.
 * `changes-input`: it writes to what it judges. `follows-length`: scores go with the length of the response (correlation over 0.95).
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
  /** One per example; `null` where unscorable. */
  readonly scores: readonly (number | null)[];
  /** Why there is no score, where the reward broke. */
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
      ...(hasChanged ? [finding('changes-input', 'it writes to what it judges')] : []),
      ...(meanMs >= resolved.slowMs ? [finding('slow', `a call takes ${meanMs.toFixed(0)} ms`)] : []),
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
  const call = typeof subject === 'function' ? subject : subject.reward;
  const units = call === undefined ? groupsOf(trajectories) : trajectories.map((_, k) => [k]);
  for (const places of units) {
    const begun = clock();
    const judge = async (trajectory: Trajectory<Metadata>, context: { readonly signal: AbortSignal }) => {
      if (call !== undefined) {
        scores[places[0]!] = await call(trajectory, context);
        return scores[places[0]!]!;
      }
      const group = {
        id: trajectory.id,
        task: trajectory.task,
        trajectories: places.map((k) => trajectories[k]!),
      };
      const scored = await (subject as Exclude<typeof subject, RewardFunction<Metadata>>).computeRewards(
        group,
        context,
      );
      for (const [k, place] of places.entries()) scores[place] = scored[k]?.reward ?? null;
      return 0;
    };
    const { failure } = await callReward(name, judge, trajectories[places[0]!]!, { timeoutMs, signal });
    milliseconds.push(clock() - begun);
    if (failure === undefined) continue;
    for (const place of places) {
      scores[place] = null;
      failures.push({ example: place, message: failure.error.message });
    }
  }
  return { scores, failures, milliseconds };
}

/** Places of the examples with the same prompt. */
function groupsOf(trajectories: readonly Trajectory[]): readonly (readonly number[])[] {
  const groups = new Map<unknown, number[]>();
  for (const [place, { task }] of trajectories.entries()) {
    const places = groups.get(task.prompt);
    if (places === undefined) groups.set(task.prompt, [place]);
    else places.push(place);
  }
  return [...groups.values()];
}

function findingsOf(first: Run, second: Run, range: readonly [number, number] | undefined): DryRunFinding[] {
  const given = first.scores.filter((score) => score !== null);
  const findings: DryRunFinding[] = [];
  const missing = first.scores.length - given.length;
  if (missing > 0)
    findings.push(finding('unscorable', `${missing} of ${first.scores.length} examples have no score`));
  if (given.length > 1 && new Set(given).size === 1) {
    findings.push(finding('constant', `every example has the score ${given[0]}`));
  }
  const differing = first.scores.flatMap((score, k) => (Object.is(score, second.scores[k]) ? [] : [k]));
  if (differing.length > 0) {
    findings.push(
      finding('not-deterministic', `another score the second time: examples ${differing.join(', ')}`),
    );
  }
  const outside = range ? given.filter((score) => score < range[0] || score > range[1]) : [];
  if (range && outside.length > 0) {
    findings.push(
      finding(
        'out-of-range',
        `${outside.length} scores outside ${range[0]} to ${range[1]}, such as ${outside[0]}`,
      ),
    );
  }
  return findings;
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
  return [
    finding(
      'follows-length',
      `scores go with the length of the response (correlation ${correlation.toFixed(2)})`,
    ),
  ];
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

function finding(kind: DryRunFindingKind, message: string): DryRunFinding {
  return { kind, message };
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
