/** Trains agents that were written for somebody else's model: records what they ask, and answers with the policy. Needs Node. */

export {
  type AgentConnection,
  type CaptureOptions,
  captureSchema,
  type ResolvedCaptureOptions,
  type RunAgent,
} from './capture/capture-options.ts';
export { type CaptureCollectOptions, CapturedRollouts, captureRollouts } from './capture/capture-rollouts.ts';
