import {
  ArgumentError,
  type RewardFailure,
  type RewardFunction,
  type ScoredTrajectory,
  type Trajectory,
  withCause,
} from '@rlp/core';
import { inLanes } from '../shared/in-lanes.ts';
import { hasMethod } from '../shared/schemas.ts';
import { callWithin, type Verdict } from './call-reward.ts';
import { Tally } from './tally.ts';

/** A reward function with its limits and its counts. */
export interface ScoredPart<Metadata = never, Outcome = never> {
  readonly name: string;
  readonly reward: RewardFunction<Metadata, Outcome>;
  /** Milliseconds that an asynchronous call may take. */
  readonly timeoutMs: number;
  /** Calls in progress at once. */
  readonly concurrency: number;
  readonly tally: Tally;
  /** Verdicts that were asked for before the group was complete. */
  readonly begun: WeakMap<object, Verdict | Promise<Verdict>>;
}

/** A reward function that can also reward single steps. `reward` of `@rlp/rewards/authoring` makes one. */
export interface StepRewardFunction<Metadata = unknown, Outcome = unknown> {
  (...given: Parameters<RewardFunction<Metadata, Outcome>>): Promise<number | null>;
  /** The reward of an episode, and those of its steps by their place. */
  readonly judge: (...given: Parameters<RewardFunction<Metadata, Outcome>>) => Promise<{
    readonly reward: number | null;
    readonly stepRewards?: ReadonlyMap<number, number> | undefined;
  }>;
}

function judgesSteps<Metadata, Outcome>(
  reward: RewardFunction<Metadata, Outcome>,
): reward is StepRewardFunction<Metadata, Outcome> {
  return hasMethod(reward, 'judge');
}

/** How {@link scoreTrajectories} adds up. */
export interface Scoring {
  /** Factor of a part in the sum. A part of weight 0 is observed only. */
  readonly weightOf: (name: string) => number;
  readonly clock: () => number;
  readonly signal: AbortSignal | undefined;
}

/** A part with fresh counts, of which nothing was asked. */
export function scoredPart<Metadata, Outcome>(
  part: Omit<ScoredPart<Metadata, Outcome>, 'tally' | 'begun'>,
): ScoredPart<Metadata, Outcome> {
  return { ...part, tally: new Tally(), begun: new WeakMap() };
}

/**
 * The one way to a reward: calls every part for every trajectory and adds up.
 *
 *     reward = Σ_k weight_k · component_k
 *
 * A part that fails is `null`, counted, and named in `failures`. A trajectory with a `null` part that has a weight gets the reward
 * `null`. Trajectories that failed, were aborted or are pending are not judged. Rejects only once aborted.
 */
export async function scoreTrajectories<Metadata, Outcome>(
  parts: readonly ScoredPart<Metadata, Outcome>[],
  trajectories: readonly Trajectory<Metadata, Outcome>[],
  scoring: Scoring,
): Promise<readonly ScoredTrajectory<Metadata, Outcome>[]> {
  if (!Array.isArray(trajectories)) {
    throw new ArgumentError(
      'computeRewards: expected a group { id, task, trajectories }; put the trajectories into a list',
    );
  }
  scoring.signal?.throwIfAborted();
  const columns = await Promise.all(
    parts.map((part) =>
      inLanes(trajectories.length, part.concurrency, (row) => takeOrJudge(part, trajectories[row]!, scoring)),
    ),
  );
  const table = { parts, columns, weightOf: scoring.weightOf };
  return trajectories.map((trajectory, row) => weighed(trajectory, row, table));
}

/** Begins the calls of every part for a trajectory whose group is not complete. A part that limits its calls waits for the group. */
export function prepareTrajectory<Metadata, Outcome>(
  parts: readonly ScoredPart<Metadata, Outcome>[],
  trajectory: Trajectory<Metadata, Outcome>,
  scoring: Pick<Scoring, 'clock' | 'signal'>,
): void {
  if (scoring.signal?.aborted || !isJudged(trajectory)) return;
  for (const part of parts) {
    if (part.concurrency !== Infinity || part.begun.has(trajectory)) continue;
    const verdict = judge(part, trajectory, scoring);
    part.begun.set(trajectory, verdict);
    if (verdict instanceof Promise) verdict.catch(() => undefined); // awaited with the group, if there is one
  }
}

/** The verdict that was begun, or else a call. */
function takeOrJudge<Metadata, Outcome>(
  part: ScoredPart<Metadata, Outcome>,
  trajectory: Trajectory<Metadata, Outcome>,
  scoring: Scoring,
): Verdict | Promise<Verdict> {
  const begun = part.begun.get(trajectory);
  part.begun.delete(trajectory);
  return begun ?? judge(part, trajectory, scoring);
}

function judge<Metadata, Outcome>(
  { name, reward, timeoutMs, tally }: ScoredPart<Metadata, Outcome>,
  trajectory: Trajectory<Metadata, Outcome>,
  { clock, signal }: Pick<Scoring, 'clock' | 'signal'>,
): Verdict | Promise<Verdict> {
  signal?.throwIfAborted();
  if (!isJudged(trajectory)) return { value: null };
  let stepRewards: Verdict['stepRewards'];
  const call = (context: { readonly signal: AbortSignal }) =>
    judgesSteps(reward)
      ? reward.judge(trajectory, context).then((judged) => {
          stepRewards = judged.stepRewards;
          return judged.reward;
        })
      : reward(trajectory, context);
  return tally.count(clock, () => {
    const verdict = callWithin(name, call, { timeoutMs, signal });
    return verdict instanceof Promise
      ? verdict.then((given) => (stepRewards?.size ? { ...given, stepRewards } : given))
      : verdict;
  });
}

/** Verdicts on trajectories, and what they add up with. */
export interface VerdictTable {
  readonly parts: readonly { readonly name: string }[];
  /** Shape: `[parts][trajectories]`. */
  readonly columns: readonly (readonly Verdict[])[];
  readonly weightOf: Scoring['weightOf'];
}

/** A trajectory with the weighted sum of its row of verdicts. */
export function weighed<Metadata, Outcome>(
  trajectory: Trajectory<Metadata, Outcome>,
  row: number,
  { parts, columns, weightOf }: VerdictTable,
): ScoredTrajectory<Metadata, Outcome> {
  const failures: RewardFailure[] = [];
  const components: Record<string, number | null> = {};
  let sum: number | null = isJudged(trajectory) ? 0 : null;
  for (let k = 0; k < parts.length; k++) {
    const { name } = parts[k]!;
    const { value, failure } = columns[k]![row]!;
    const weight = weightOf(name);
    components[name] = value;
    if (failure !== undefined) {
      const { cause, error } = failure;
      failures.push(withCause({ source: name, cause, message: error.message }, error));
    }
    if (weight !== 0) sum = sum === null || value === null ? null : sum + weight * value;
  }
  const reward = withoutOverflow(sum, failures);
  return {
    trajectory: withStepRewards(trajectory, row, { parts, columns, weightOf }),
    reward,
    components,
    ...(failures.length > 0 && { failures }),
  };
}

/** The trajectory with the weighted sums of the rewards that parts gave to its steps. */
function withStepRewards<Metadata, Outcome>(
  trajectory: Trajectory<Metadata, Outcome>,
  row: number,
  { parts, columns, weightOf }: VerdictTable,
): Trajectory<Metadata, Outcome> {
  const sums = new Map<number, number>();
  for (const [k, { name }] of parts.entries()) {
    const weight = weightOf(name);
    if (weight === 0) continue;
    for (const [step, value] of columns[k]![row]!.stepRewards ?? [])
      sums.set(step, (sums.get(step) ?? 0) + weight * value);
  }
  if (sums.size === 0) return trajectory;
  const steps = trajectory.steps.map((step, at) => (sums.has(at) ? { ...step, reward: sums.get(at) } : step));
  return { ...trajectory, steps };
}

/** The sum, or `null` and a failure if it is not finite. */
export function withoutOverflow(sum: number | null, failures: RewardFailure[]): number | null {
  if (sum === null || Number.isFinite(sum)) return sum;
  failures.push({ source: 'episode', cause: 'not-finite', message: `the weighted sum is ${sum}` });
  return null;
}

/** Whether a trajectory is judged: those that failed, were aborted or are pending are not. */
export function isJudged({ status }: Pick<Trajectory, 'status'>): boolean {
  return status === 'completed' || status === 'truncated';
}

/** A trajectory without a score. */
export function unscored<Metadata>(
  trajectory: Trajectory<Metadata>,
  components: readonly string[],
): ScoredTrajectory<Metadata> {
  return { trajectory, reward: null, components: Object.fromEntries(components.map((name) => [name, null])) };
}
