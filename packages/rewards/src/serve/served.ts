import {
  ArgumentError,
  messageOf,
  type RewardComputer,
  type RewardFunction,
  type Schema,
  type Trajectory,
  type Verifier,
} from '@rlp/core';
import { rewardFunctions } from '../functions/reward-functions.ts';
import { type RewardEpisode, trajectoryFromEpisode } from '../shared/episode.ts';
import { verificationRequest } from '../verification/apply-verifiers.ts';

/** What can be served: a reward function, a reward computer, or a verifier, whose score is the reward. */
export type ServedRewards<Metadata> = RewardFunction<Metadata> | RewardComputer<Metadata> | Verifier;

/** What was found out about the episodes of a request. */
interface ServedScores {
  /** `null` if unscorable. */
  readonly rewards: readonly (number | null)[];
  /** Why, where an episode could not even be judged. */
  readonly problems: readonly string[];
}

/** Scores the episodes of a request, all together. */
export type ScoreEpisodes = (
  episodes: readonly RewardEpisode[],
  options: { readonly signal: AbortSignal },
) => Promise<ServedScores>;

/** How what is served scores episodes. @throws `ArgumentError` for anything else. */
export function scorerOf<Metadata>(
  served: ServedRewards<Metadata>,
  { metadata, timeoutMs }: { readonly metadata: Schema<Metadata> | undefined; readonly timeoutMs: number },
): ScoreEpisodes {
  const computer = computerOf(served, timeoutMs);
  let groups = 0;
  return async (episodes, { signal }) => {
    const id = String(groups++);
    const problems: string[] = [];
    const rows = episodes.map((given, row) => {
      const trajectory = trajectoryOf(given, `${id}/${row}`, metadata);
      if (typeof trajectory !== 'string') return trajectory;
      problems.push(`episode ${row}: ${trajectory}`);
      return undefined;
    });
    const trajectories = rows.filter((row) => row !== undefined);
    const [first] = trajectories;
    if (first === undefined) return { rewards: rows.map(() => null), problems };
    const scored = await computer.computeRewards({ id, task: first.task, trajectories }, { signal });
    if (scored.length !== trajectories.length) {
      throw new ArgumentError(
        `expected ${trajectories.length} rewards of the computer, got ${scored.length}`,
      );
    }
    let next = 0;
    const rewards = rows.map((row) => (row === undefined ? null : scored[next++]!.reward));
    return { rewards: rewards.map((reward) => (Number.isFinite(reward) ? reward : null)), problems };
  };
}

function computerOf<Metadata>(served: ServedRewards<Metadata>, timeoutMs: number): RewardComputer<Metadata> {
  if ('computeRewards' in served) return served;
  if (typeof served === 'function') return rewardFunctions({ reward: served }, { timeoutMs });
  if ('verifyBatch' in served) return verifierComputer(served);
  throw new ArgumentError(
    'serveRewards: expected a reward function, an object with computeRewards, or one with verifyBatch',
  );
}

/** A verifier as a reward: its score. */
function verifierComputer<Metadata>(verifier: Verifier): RewardComputer<Metadata> {
  return {
    computeRewards: async ({ trajectories }, { signal } = {}) => {
      const requests = trajectories.map(verificationRequest);
      const reports = await verifier.verifyBatch(requests, { ...(signal && { signal }) });
      return trajectories.map((trajectory, row) => {
        const score = reports[row]?.score ?? null;
        return { trajectory, reward: score, components: { [verifier.name]: score } };
      });
    },
  };
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
  const checked = checkedMetadata(trajectory.task.metadata, schema);
  if ('problem' in checked) return checked.problem;
  return { ...trajectory, task: { ...trajectory.task, metadata: checked.value } };
}

/** Metadata by its schema, or its problem; a schema may also throw, as recursive ones do on what is nested deep enough. */
function checkedMetadata<Metadata>(
  metadata: Readonly<Record<string, unknown>>,
  schema: Schema<Metadata> | undefined,
): { readonly value: Metadata } | { readonly problem: string } {
  if (schema === undefined) return { value: metadata as Metadata };
  try {
    const checked = schema['~standard'].validate(metadata);
    if (checked instanceof Promise) {
      // zod tries once more, asynchronously, where a check throws: a rejection that nobody hears of would end the process.
      checked.catch(() => undefined);
      return { problem: 'metadata: its schema threw, or is not synchronous' };
    }
    if (checked.issues === undefined) return checked;
    return { problem: `metadata: ${checked.issues.map(({ message }) => message).join('; ')}` };
  } catch (error) {
    return { problem: `metadata: the schema threw ${messageOf(error)}` };
  }
}
