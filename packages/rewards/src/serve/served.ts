import { setImmediate } from 'node:timers/promises';
import {
  ArgumentError,
  messageOf,
  OptionsError,
  parseOptions,
  type RewardComputer,
  type RewardFunction,
  type Schema,
  type ScoredTrajectory,
  type Trajectory,
  type Verifier,
} from '@rlp/core';
import { rewardComputerOf } from '../functions/reward-functions.ts';
import { type RewardEpisode, trajectoryFromEpisode } from '../shared/episode.ts';
import { verificationRequest } from '../verification/apply-verifiers.ts';

/** What can be served, namely a reward function, a reward computer, or a verifier, whose score is the reward. */
export type ServedRewards<Metadata> = RewardFunction<Metadata> | RewardComputer<Metadata> | Verifier;

/** What was found out about the episodes of a request. */
interface ServedScores {
  /** `null` if unscorable. */
  readonly rewards: readonly (number | null)[];
  /** Why, for clients: what a reward throws may hold anything, so they get its name and the kind of failure. */
  readonly problems: readonly string[];
  /** The same of the last episode that has no reward, with what was thrown. */
  readonly lastFailure: string | undefined;
}

/** A reward, or why there is none. */
type Scored = Pick<ScoredTrajectory, 'reward' | 'failures'>;

/** Scores the episodes of a request, all together. */
export type ScoreEpisodes = (
  episodes: readonly RewardEpisode[],
  options: { readonly signal: AbortSignal },
) => Promise<ServedScores>;

/** How what is served scores episodes. @throws ArgumentError for anything else. */
export function scorerOf<Metadata>(
  served: ServedRewards<Metadata>,
  { metadata, timeoutMs }: { readonly metadata: Schema<Metadata> | undefined; readonly timeoutMs: number },
): ScoreEpisodes {
  const score = groupScorer(served, timeoutMs);
  let groups = 0;
  return async (episodes, { signal }) => {
    const id = String(groups++);
    const problems: string[] = [];
    const rewards = new Array<number | null>(episodes.length).fill(null);
    const rows: number[] = [];
    const trajectories: Trajectory<Metadata>[] = [];
    for await (const row of inSlices(episodes.length, signal)) {
      const trajectory = trajectoryOf(episodes[row]!, `${id}/${row}`, metadata);
      if (typeof trajectory === 'string') problems.push(`episode ${row}: ${trajectory}`);
      else {
        rows.push(row);
        trajectories.push(trajectory);
      }
    }
    const scored = trajectories.length === 0 ? [] : await score(id, trajectories, signal);
    let lastFailure = problems.at(-1);
    for (const [k, row] of rows.entries()) {
      const { reward = null, failures = [] } = scored[k] ?? {};
      rewards[row] = Number.isFinite(reward) ? reward : null;
      for (const { source, cause, message } of rewards[row] === null ? failures : []) {
        problems.push(`episode ${row}: reward "${source}": ${cause}`);
        lastFailure = message;
      }
    }
    return { rewards, problems, lastFailure };
  };
}

/** Milliseconds of work after which others get their turn. */
const sliceMs = 5;

/** Counts to `length`, and lets other work go on every few milliseconds. Rejects with the signal's reason. */
async function* inSlices(length: number, signal: AbortSignal): AsyncGenerator<number> {
  let begun = performance.now();
  for (let row = 0; row < length; row++) {
    if (performance.now() - begun > sliceMs) {
      await setImmediate();
      signal.throwIfAborted();
      begun = performance.now();
    }
    yield row;
  }
}

type GroupScorer<Metadata> = (
  id: string,
  trajectories: readonly Trajectory<Metadata>[],
  signal: AbortSignal,
) => Promise<readonly Scored[]>;

function groupScorer<Metadata>(served: ServedRewards<Metadata>, timeoutMs: number): GroupScorer<Metadata> {
  const computer = rewardComputerOf<Metadata>(served, timeoutMs);
  if (computer === served) return (id, all, signal) => rewardsBy(computer, id, all, signal);
  if (computer !== undefined)
    return (id, all, signal) => byParts(all, signal, (part) => rewardsBy(computer, id, part, signal));
  if ('verifyBatch' in served) {
    return (_, all, signal) =>
      byParts(all, signal, async (part) => {
        const reports = await served.verifyBatch(part.map(verificationRequest), { signal });
        return part.map((_, k) => ({ reward: reports[k]?.score ?? null }));
      });
  }
  throw new ArgumentError(
    'serveRewards: expected a reward function, an object with computeRewards, or one with verifyBatch',
  );
}

/** Episodes whose scores are begun before the clock is looked at. */
const partSize = 32;

async function byParts<Metadata>(
  all: readonly Trajectory<Metadata>[],
  signal: AbortSignal,
  score: (part: readonly Trajectory<Metadata>[]) => Promise<readonly Scored[]>,
): Promise<readonly Scored[]> {
  const parts: Promise<readonly Scored[]>[] = [];
  for await (const part of inSlices(Math.ceil(all.length / partSize), signal)) {
    const scores = score(all.slice(part * partSize, (part + 1) * partSize));
    scores.catch(() => undefined); // Read below, unless a later part does not begin.
    parts.push(scores);
  }
  return (await Promise.all(parts)).flat();
}

async function rewardsBy<Metadata>(
  computer: RewardComputer<Metadata>,
  id: string,
  trajectories: readonly Trajectory<Metadata>[],
  signal: AbortSignal,
): Promise<readonly Scored[]> {
  const { task } = trajectories[0]!;
  const scored = await computer.computeRewards({ id, task, trajectories }, { signal });
  if (scored.length === trajectories.length) return scored;
  throw new ArgumentError(`expected ${trajectories.length} rewards of the computer, got ${scored.length}`);
}

/** An episode as a trajectory with metadata by the schema, or a sentence that says why it cannot be read. */
function trajectoryOf<Metadata>(
  given: RewardEpisode,
  id: string,
  schema: Schema<Metadata> | undefined,
): Trajectory<Metadata> | string {
  const trajectory = trajectoryFromEpisode(given, id);
  if (trajectory === null) return 'it is neither completed nor truncated';
  if (typeof trajectory === 'string') return trajectory;
  try {
    const { metadata } = trajectory.task;
    const checked =
      schema === undefined ? (metadata as Metadata) : parseOptions('metadata', schema, metadata);
    return { ...trajectory, task: { ...trajectory.task, metadata: checked } };
  } catch (error) {
    // A schema may also throw, as recursive ones do on what is nested deep enough.
    return `metadata: ${error instanceof OptionsError ? error.issues.join('; ') : messageOf(error)}`;
  }
}
