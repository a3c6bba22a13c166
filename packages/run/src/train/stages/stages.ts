import type { StageName } from '../../config/modes.ts';
import { distillStage } from './distill.ts';
import { preferenceStage } from './preference.ts';
import { rewardModelStage } from './reward-model.ts';
import { rlStage } from './rl.ts';
import { sftStage } from './sft.ts';
import type { Stage } from './stage.ts';

/** The stages by their names. A mode of `config/modes.ts` lists those it consists of. */
export const stages: Readonly<Record<StageName, Stage>> = {
  sft: sftStage,
  preference: preferenceStage,
  'reward-model': rewardModelStage,
  distill: distillStage,
  rl: rlStage,
};
