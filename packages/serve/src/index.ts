/** Serves a policy over the HTTP routes of other people's clients. Needs Node. */

export { Answerer, type AnswererOptions, type Answering } from './answer/answerer.ts';
export type { RenderConversation } from './answer/asked-request.ts';
export type { AnswerObserver, AskedRequest } from './answer/observer.ts';
export type {
  Answer,
  AnswerChoice,
  AnswerPiece,
  AnswerRequest,
  AnswerToken,
  Conversation,
  FinishReason,
  ToolChoice,
} from './answer/request.ts';
export { ApiError, type ApiErrorFacts } from './api-error.ts';
export { type ModelServer, type ServeModelOptions, serveModel } from './serve-model.ts';
export type { ServedPolicy } from './served-policy.ts';
