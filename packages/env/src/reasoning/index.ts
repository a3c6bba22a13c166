export {
  isReasoningAnswer,
  type ReasoningMetadata,
  type ReasoningOptions,
  reasoningFamilies,
  reasoningTasks,
} from './reasoning-tasks.ts';
