export { type ArithmeticMetadata, type ArithmeticOptions, arithmeticTasks } from './arithmetic-tasks.ts';
export { BaseEnvironment, type Generate } from './base-environment.ts';
export {
  ConversationEnvironment,
  type ConversationOptions,
  type ConversationState,
  type ConversationView,
  type NextUserTurn,
} from './conversation-environment.ts';
export {
  type DefinedEnvironment,
  environmentFromDefinition,
  type FromDefinition,
  type FromDefinitionOptions,
  type OpenResource,
  type Resource,
} from './environment-from-definition.ts';
export {
  GuessNumberEnvironment,
  type GuessNumberMetadata,
  type GuessNumberOptions,
  type GuessNumberOutcome,
  type GuessNumberState,
  guessNumberTasks,
} from './guess-number.ts';
export type { Exchange, Keyed, LayerUse } from './layers/layer.ts';
export { type MemoryOptions, type Notebook, type WithMemory, withMemory } from './layers/with-memory.ts';
export { type RetryOptions, type RetryUse, withRetries } from './layers/with-retries.ts';
export { type TerminationOptions, type TerminationUse, withTermination } from './layers/with-termination.ts';
export { type UserUse, type WithUserOptions, withUser } from './layers/with-user.ts';
export { SimpleTextEnvironment, type SimpleTextOptions, type TextState } from './simple-text-environment.ts';
export { type SplitTasksOptions, splitTasks } from './split-tasks.ts';
export { type TaskSourceOptions, taskSource } from './task-source.ts';
export {
  type AiSdkTool,
  type ForeignToolOptions,
  type McpClient,
  toolsFromAiSdk,
  toolsFromMcp,
} from './tools/foreign-tools.ts';
export {
  type Tool,
  type ToolArguments,
  type ToolContext,
  type ToolDefinition,
  type ToolParameters,
  tool,
} from './tools/tool.ts';
export type { ToolUse } from './tools/tool-use.ts';
export { type WithToolsOptions, type WithToolUse, withTools, withVerification } from './tools/with-tools.ts';
export { type EnvironmentLimits, withLimits } from './with-limits.ts';
export { type MemoryStoreOptions, memoryStore, type SnapshotStore } from './worlds/snapshot-store.ts';
export {
  type WithWorld,
  type WithWorldOptions,
  type WorldPlace,
  type WorldTool,
  type WorldToolContext,
  type WorldToolDefinition,
  withWorld,
  worldTool,
} from './worlds/with-world.ts';
export type { WorldLease } from './worlds/world-lease.ts';
export {
  createWorldPool,
  type UseWorld,
  type WorldPool,
  type WorldPoolOptions,
} from './worlds/world-pool.ts';
