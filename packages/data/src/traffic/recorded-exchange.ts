/** Form in which a program recorded traffic. */
export type TrafficFormat =
  | 'openai-chat'
  | 'openai-responses'
  | 'anthropic-messages'
  | 'opentelemetry'
  | 'ai-sdk';

/** A request and its answer as one conversation. */
export interface RecordedExchange {
  readonly format: TrafficFormat;
  /** Name that the log gave it. Absent if it gave none. */
  readonly id?: string | undefined;
  /** Model that answered, if the log says. */
  readonly model?: string | undefined;
  /** Conversation or trace that it belongs to, if the log says. */
  readonly conversation?: string | undefined;
  /** Tools that the request offered, not checked yet. Absent if the log does not say. */
  readonly tools?: unknown;
  /** Whether the record is a conversation that somebody wrote down, not a request with its answer. Default false. */
  readonly isConversation?: boolean | undefined;
  /** What the request says of its user, such as `user` and `metadata`. Absent if there is nothing. */
  readonly owner?: Readonly<Record<string, unknown>> | undefined;
  /** What the record says beside the exchange. Absent if there is nothing. */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
  /** Why the log holds no answer to the request. Absent if it holds one: the messages end with it. */
  readonly unanswered?: string | undefined;
  /** In the shape of the chat API, not checked yet. */
  readonly messages: readonly unknown[];
}
