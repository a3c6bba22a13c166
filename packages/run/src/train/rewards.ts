import type { RewardComputer } from '@rlp/core';
import type { TextTokenizer } from '@rlp/models';
import type { ResolvedRunConfig } from '../config/run-schema.ts';
import { type AnswerMetadata, createRunRewards } from '../config/stock-rewards.ts';
import { playsGame } from './environment.ts';

/** Rewards that a run works with. */
interface RunRewards {
  readonly computer: RewardComputer<AnswerMetadata>;
  /** Component that says whether a response is right. */
  readonly component: string | undefined;
  /** Component that needs an answer in each row. */
  readonly readsAnswer?: string | undefined;
  /** @throws what `SavedRewardModel.requireModel` throws. */
  requireModels?(policy: TextTokenizer): Promise<void>;
  /** Closes what was opened for them, but not what the configuration gave. */
  close(): Promise<void>;
}

/** The rewards of a configuration. Its functions and computers stay open when they are closed. */
export function createRewards({ rewards, evaluation, environment, data }: ResolvedRunConfig): RunRewards {
  const asked = evaluation === 'none' ? undefined : evaluation.component;
  const isFunction = typeof rewards === 'function';
  if (rewards !== undefined && !isFunction && 'computeRewards' in rewards) {
    return { computer: rewards as RewardComputer<AnswerMetadata>, component: asked, close: async () => {} };
  }
  if (rewards !== undefined && !isFunction) {
    return { ...createRunRewards(rewards), component: asked ?? Object.keys(rewards)[0] };
  }
  if (isFunction) return { ...createRunRewards({ reward: rewards }), component: 'reward' };
  const name = standardReward(environment, data);
  return { ...createRunRewards({ [name]: name }), component: name };
}

/** The reward of a run that names none. */
function standardReward(
  environment: ResolvedRunConfig['environment'],
  data: ResolvedRunConfig['data'],
): string {
  if (playsGame(environment)) return 'gameScore';
  const isReasoning = typeof data === 'object' && 'tasks' in data && data.tasks === 'reasoning';
  return isReasoning ? 'reasoningAnswer' : 'answer';
}
