import { ArgumentError, parseOptions, requireArguments, type StepData, type StepTrace } from '@rlp/core';
import * as z from 'zod';
import { anchorGroups, anchorSchema } from '../advantage/anchor-groups.ts';
import { gigpoAdvantages, gigpoTraces } from '../advantage/gigpo.ts';

const schema = z.strictObject({
  /** Weight ω of the episode's advantage, 0 to 1: `A = ω·A_E + (1 − ω)·A_S`. Default 0.5. */
  omega: z.number().min(0).max(1).default(0.5),
  /** Discount γ between the steps of an episode. Default 0.99. */
  gamma: z.number().min(0).max(1).default(0.99),
  /** Reward of a step without `baseReward`. Default 0. */
  defaultStepReward: z.number().default(0),
  /**
   * When the score of the episode is added to the reward of its last step. `'sparse'`: if no step of the episode has a `baseReward`.
   * Default `'sparse'`.
   */
  terminalScore: z.enum(['sparse', 'always', 'never']).default('sparse'),
  /** `'std'` divides both advantages by their unbiased deviation, `'none'` only centres them. Default `'std'`. */
  scale: z.enum(['std', 'none']).default('std'),
  /** Added to the deviation. Default 0.000001. */
  epsilon: z.number().nonnegative().default(1e-6),
  /** Whether equal or similar states are the same. See `anchorGroups`. Defaults to equal ones. */
  anchors: anchorSchema.optional(),
});

/** Options of {@link applyGigpoToBatchSteps}. */
export interface ApplyGigpoOptions extends z.input<typeof schema> {
  /** Group of each episode. Episodes of a group begin in the same state. By default all are one group. */
  readonly groups?: readonly unknown[] | undefined;
  /**
   * Text that is equal for steps taken in equal states. Default `stepInfo.stateKey`, which rollouts write if the environment has
   * `stateKey`.
   */
  readonly stateHashingFunction?: ((step: StepData) => string) | undefined;
  /** Called for each step with its advantages, its state and its return, in their order. Default none. */
  readonly onTrace?: ((trace: StepTrace, step: StepData) => void) | undefined;
}

/**
 * Gives each step its GiGPO advantage and its return.
 *
 *     A_E = (R − mean_group R) / (std + ε),   G_t = Σ γ^(k−t) r_k,   A_S = (G_t − mean_state G) / (std + ε),   A = ω·A_E + (1 − ω)·A_S
 *
 * Episodes without a score are left as they are, and others are not compared with them.
 *
 * @param episodes - Steps of each episode. Shape: `[episodes][steps]`.
 * @param finalScores - Score R of each episode. Shape: `[episodes]`.
 * @returns The same steps with `advantage` and `returnToGo`.
 * @throws OptionsError for wrong options, ArgumentError for lists of different lengths or a step without a state.
 * @see Feng et al. 2025 (GiGPO), https://arxiv.org/abs/2505.10978
 */
export function applyGigpoToBatchSteps<Step extends StepData>(
  episodes: readonly (readonly Step[])[],
  finalScores: readonly (number | null)[],
  options: ApplyGigpoOptions = {},
): Step[][] {
  requireArguments(
    'applyGigpoToBatchSteps',
    { episodes: 'objects[]', finalScores: 'list', options: 'object?' },
    episodes,
    finalScores,
    options,
  );
  const { groups, stateHashingFunction = keyOf, onTrace, ...others } = options;
  const resolved = parseOptions('applyGigpoToBatchSteps', schema, others, 'ApplyGigpoOptions');
  requireOnePerEpisode('finalScores', finalScores, episodes);
  requireOnePerEpisode('groups', groups ?? episodes, episodes);
  const rows = episodes.flatMap((steps, episode) => {
    const score = finalScores[episode]!;
    if (score === null) return [];
    const rewards = rewardsOf(steps, score, resolved);
    return steps.map((step, at) => {
      return { step, episode, score, group: groups?.[episode], reward: rewards[at]! };
    });
  });
  const states = rows.map(({ step }) => stateHashingFunction(step));
  const ids = rows.map(({ group }) => group);
  const inputs = {
    groups: ids,
    trajectories: rows.map(({ episode }) => episode),
    anchors: anchorGroups(states, ids, resolved.anchors),
    stepRewards: rows.map(({ reward }) => reward),
    episodeScores: rows.map(({ score }) => score),
  };
  const { omega: weight, gamma: discount, scale, epsilon } = resolved;
  const result = gigpoAdvantages(inputs, { discount, scale, epsilon, joint: 'mix', weight });
  if (onTrace !== undefined) {
    for (const [row, trace] of gigpoTraces(inputs, states, result).entries()) onTrace(trace, rows[row]!.step);
  }
  let at = 0;
  return episodes.map((steps, episode) => {
    if (finalScores[episode] === null) return [...steps];
    return steps.map((step) => {
      const row = at++;
      return { ...step, advantage: result.advantages[row]!, returnToGo: result.stepReturns[row]! };
    });
  });
}

/** Rewards of the steps of an episode, with its score where the options say so. */
function rewardsOf(
  steps: readonly StepData[],
  score: number,
  { defaultStepReward, terminalScore }: z.output<typeof schema>,
): readonly number[] {
  const isSparse = steps.every(({ baseReward }) => baseReward === undefined);
  const isAdded = terminalScore === 'always' || (terminalScore === 'sparse' && isSparse);
  return steps.map(({ baseReward = defaultStepReward }, at) =>
    isAdded && at === steps.length - 1 ? baseReward + score : baseReward,
  );
}

function keyOf({ stepInfo, systemStepIndex }: StepData): string {
  const { stateKey } = stepInfo;
  if (typeof stateKey === 'string') return stateKey;
  throw new ArgumentError(
    `applyGigpoToBatchSteps: step ${systemStepIndex} has no stepInfo.stateKey, so no state can be told to be the same; ` +
      'give the environment a method `stateKey(state)`, or pass stateHashingFunction',
  );
}

function requireOnePerEpisode(name: string, list: readonly unknown[], episodes: readonly unknown[]): void {
  if (list.length === episodes.length) return;
  throw new ArgumentError(
    `applyGigpoToBatchSteps: ${name} must have one entry per episode, got ${list.length} for ${episodes.length}`,
  );
}
