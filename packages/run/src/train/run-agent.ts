import type { InferenceModule } from '@rlp/inference';
import type { LanguageModel } from '@rlp/models';
import type { RolloutOptions } from '@rlp/rollout';
import { type CapturedRollouts, type CaptureOptions, captureRollouts } from '@rlp/serve/capture';
import { agentRollout } from '../config/agent-schema.ts';
import type { AnswerMetadata } from '../config/stock-rewards.ts';
import type { PreparedRun } from './prepare.ts';

/** What an agent of a run asks. */
export interface AskedPolicy {
  readonly inference: InferenceModule;
  readonly model: LanguageModel;
  readonly clock?: (() => number) | undefined;
}

/** Collects runs of the agent with the options of a rollout that it follows. */
export function collectAgent(
  agent: NonNullable<PreparedRun['agent']>,
  { inference, model, clock }: AskedPolicy,
  options: RolloutOptions,
): CapturedRollouts<AnswerMetadata> {
  const followed = agentRollout.flatMap((name) =>
    options[name] === undefined ? [] : [[name, options[name]]],
  );
  const captured = Object.fromEntries(followed) as Partial<CaptureOptions<AnswerMetadata>>;
  return captureRollouts<AnswerMetadata>({
    ...agent,
    ...captured,
    policy: inference,
    chat: model.chat,
    clock,
  });
}
