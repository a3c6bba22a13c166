import { bilevelGaeEstimator, gaeEstimator } from './critic-estimators.ts';
import { gdpoEstimator, gigpoEstimator, relativeTo } from './group-estimators.ts';
import {
  optimalTokenBaselineEstimator,
  reinforceEstimator,
  reinforcePlusPlusEstimator,
  remaxEstimator,
} from './return-estimators.ts';
import {
  entropyShapedEstimator,
  entropyWeightedEstimator,
  planningAmplifiedEstimator,
} from './token-estimators.ts';

/**
 * The field's advantage estimators, ready for the `advantages` of a loop: `advantages: estimators.rloo()`.
 *
 * Each takes the options of the function that it is named after, and checks them when it is made.
 *
 * | estimator | what it compares with | needs |
 * |---|---|---|
 * | `groupRelative`, `grpo` | the group, by its deviation | groups |
 * | `drGrpo` | the group's mean | groups |
 * | `rloo` | the mean of the others | groups |
 * | `opo` | the group's mean weighted by lengths | groups |
 * | `gpg` | the group's mean, by the share of rewards that are not 0 | groups |
 * | `maxRl` | the group's mean, by that mean | groups |
 * | `passAtK` | the group's second best | groups |
 * | `gdpo` | the group, per component of the reward | groups, components |
 * | `gigpo` | the group, and steps from the same state | groups, `stateKey` |
 * | `reinforce` | nothing, or a mean return | |
 * | `reinforcePlusPlus` | the batch, by its deviation | |
 * | `remax` | the greedy trajectory | `greedyRollouts` |
 * | `optimalTokenBaseline` | the group's weighted mean return, per position | groups |
 * | `gae`, `bilevelGae` | the critic | `critic` |
 * | `entropyShaped` | the group, by entropies (GTPO) | groups |
 * | `entropyWeighted`, `planningAmplified` | another estimator's advantages, moved between tokens | |
 */
export const estimators = {
  groupRelative: relativeTo({}),
  grpo: relativeTo({}),
  drGrpo: relativeTo({ scale: 'none' }),
  rloo: relativeTo({ baseline: 'leave-one-out', scale: 'none' }),
  opo: relativeTo({ baseline: 'length-weighted-mean', scale: 'none' }),
  gpg: relativeTo({ scale: 'nonzero-share' }),
  maxRl: relativeTo({ scale: 'group-mean' }),
  passAtK: relativeTo({ baseline: 'second-best' }),
  gdpo: gdpoEstimator,
  gigpo: gigpoEstimator,
  reinforce: reinforceEstimator,
  reinforcePlusPlus: reinforcePlusPlusEstimator,
  remax: remaxEstimator,
  optimalTokenBaseline: optimalTokenBaselineEstimator,
  gae: gaeEstimator,
  bilevelGae: bilevelGaeEstimator,
  entropyShaped: entropyShapedEstimator,
  entropyWeighted: entropyWeightedEstimator,
  planningAmplified: planningAmplifiedEstimator,
} as const;
