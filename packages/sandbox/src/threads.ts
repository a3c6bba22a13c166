/** Worker threads that answer requests and can be killed. Needs Node. */
export type { ThreadMessage } from './threads/protocol.ts';
export { serveThread, type ThreadPort, type ThreadService, threadSide } from './threads/serve-thread.ts';
export type { AnswerLimits } from './threads/thread.ts';
export { ThreadError, type ThreadFailureCause } from './threads/thread-error.ts';
export { ThreadPool } from './threads/thread-pool.ts';
export type { ThreadSettings } from './threads/thread-settings.ts';
