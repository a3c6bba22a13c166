import type { RewardComputer, RewardFunction } from '@rlp/core';
import type { ThreadService } from '@rlp/sandbox/threads';
import { rewardFunctions } from '../functions/reward-functions.ts';
import type {
  EpisodeScores,
  ThreadAnswer,
  ThreadData,
  ThreadExport,
  ThreadRequest,
  TrajectoryScores,
} from './protocol.ts';

interface EpisodeProcessor {
  processEpisodeRewards(episodes: unknown): Promise<EpisodeScores>;
}

interface Scorer {
  readonly exported: ThreadExport;
  readonly computer: RewardComputer;
  readonly processor?: EpisodeProcessor | undefined;
}

/** Share of the thread's time after which a function that waits is given up, so that nobody has to end the thread. */
const functionShare = 0.8;

/** Loads the module whose export scores, and answers with its scores. */
export async function openScorer(
  data: ThreadData,
): Promise<ThreadService<ThreadRequest, ThreadAnswer, ThreadExport>> {
  const loaded = (await import(data.module)) as Readonly<Record<string, unknown>>;
  const scorer = await scorerOf(loaded, data);
  return { ready: scorer.exported, answer: (request) => answerTo(scorer, request) };
}

async function scorerOf(
  loaded: Readonly<Record<string, unknown>>,
  { module, exportName, timeoutMs }: ThreadData,
): Promise<Scorer> {
  const reward = await loaded[exportName];
  if (typeof reward === 'function' && !hasMethod(reward, 'computeRewards')) {
    const limits = { timeoutMs: functionShare * timeoutMs };
    const computer = rewardFunctions({ [reward.name || 'reward']: reward as RewardFunction }, limits);
    return { exported: { scope: 'episode', scores: 'trajectories' }, computer };
  }
  if (!hasMethod(reward, 'computeRewards')) {
    throw new TypeError(
      `${module}: expected the export "${exportName}" to be a reward function or to have computeRewards, got ${typeof reward}; ` +
        `the module exports ${Object.keys(loaded).join(', ') || 'nothing'}`,
    );
  }
  const computer = reward as unknown as RewardComputer;
  if (!hasMethod(reward, 'processEpisodeRewards')) {
    return { exported: { scope: 'group', scores: 'trajectories' }, computer };
  }
  const processor = reward as unknown as EpisodeProcessor;
  return { exported: { scope: 'episode', scores: 'episodes' }, computer, processor };
}

function hasMethod(value: unknown, name: string): value is Readonly<Record<string, unknown>> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as Readonly<Record<string, unknown>>)[name] === 'function';
}

async function answerTo({ computer, processor }: Scorer, request: ThreadRequest): Promise<ThreadAnswer> {
  if (request.kind === 'group') {
    const { trajectories } = request.group;
    const scored = await computer.computeRewards(request.group);
    if (scored.length !== trajectories.length) {
      throw new RangeError(`expected ${trajectories.length} rewards of the computer, got ${scored.length}`);
    }
    const scores: TrajectoryScores = scored.map(({ trajectory, ...scores }, row) =>
      trajectory === trajectories[row] ? scores : { ...scores, trajectory },
    );
    return { kind: 'group', scores };
  }
  if (processor === undefined) throw new TypeError('expected a processor to score episodes');
  const { data, components, failures } = await processor.processEpisodeRewards(request.episodes);
  return { kind: 'episodes', scores: { data, components, failures } };
}
