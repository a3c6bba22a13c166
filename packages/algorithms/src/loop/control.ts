import { nextEntropyCoefficient, nextKlCoefficient } from '../loss/controllers.ts';
import type { Coefficients } from './experience.ts';
import type { LearnResult } from './learn.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { RlState } from './protocol.ts';

/** The coefficients of the next iteration: those that a controller or a monitor moved come from the state. */
export function coefficientsOf(
  { loss, rewardKl, klControl }: ResolvedRlOptions,
  state: Pick<RlState, 'klCoefficient' | 'entropyCoefficient'> | undefined,
  monitoring: 'watched' | 'unwatched' = 'unwatched',
): Coefficients {
  return {
    klForm: klControl !== undefined || monitoring === 'watched' ? 'moving' : 'fixed',
    kl: state?.klCoefficient ?? (loss.klCoefficient > 0 ? loss.klCoefficient : (rewardKl?.coefficient ?? 0)),
    entropy: state?.entropyCoefficient ?? loss.entropyCoefficient,
  };
}

/** What controllers make of an iteration, for its state. A coefficient that nothing moves is left out. */
export function controlled(
  { kl, entropy }: Coefficients,
  { klControl, entropyControl }: ResolvedRlOptions,
  measured: Pick<LearnResult, 'rewardKl' | 'referenceKl' | 'entropy' | 'trajectories'>,
): Pick<RlState, 'klCoefficient' | 'entropyCoefficient'> {
  const measuredKl = measured.rewardKl ?? measured.referenceKl;
  const steps = Math.max(1, measured.trajectories);
  return {
    ...(klControl && {
      klCoefficient:
        measuredKl === undefined ? kl : nextKlCoefficient(kl, { ...klControl, kl: measuredKl, steps }),
    }),
    ...(entropyControl && {
      entropyCoefficient:
        measured.entropy === undefined
          ? entropy
          : nextEntropyCoefficient(entropy, { ...entropyControl, entropy: measured.entropy }),
    }),
  };
}
