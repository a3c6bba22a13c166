import type { VerificationReport, VerificationResult } from '@rlp/core';
import type { RewardEpisode } from '../shared/episode.ts';

/** What was found out about an episode. */
export interface EpisodeJudgement {
  /** `null`: unscorable. */
  readonly reward: number | null;
  /** In 0..1. Absent without verification, as what follows. */
  readonly verificationScore?: number | undefined;
  readonly verificationResult?: VerificationResult | undefined;
  readonly verificationMessage?: string | undefined;
  readonly verificationDetails?: Readonly<Record<string, unknown>> | undefined;
}

/** A copy of an episode with its judgement. */
export type JudgedEpisode<Episode extends RewardEpisode = RewardEpisode> = Episode & EpisodeJudgement;

/** A copy of `episode` with its judgement. */
export function judgedEpisode<Episode extends RewardEpisode>(
  episode: Episode,
  reward: number | null,
  report: VerificationReport | undefined,
): JudgedEpisode<Episode> {
  return {
    ...copyOf(episode),
    reward,
    ...(report && {
      verificationScore: report.score,
      verificationResult: report.result,
      verificationMessage: report.message,
      verificationDetails: report.details,
    }),
  };
}

/** A shallow copy. Nothing of an episode whose fields throw when they are read. */
function copyOf<Episode extends RewardEpisode>(episode: Episode): Episode {
  try {
    return { ...episode };
  } catch {
    return {} as Episode;
  }
}
