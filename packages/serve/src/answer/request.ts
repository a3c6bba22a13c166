import type { Message, SamplingOptions, TokenId, ToolCall, ToolSchema } from '@rlp/core';

/** Whether and which tools the model is to call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** A conversation that the model is to continue. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** Tools that the model may call. Default none. */
  readonly tools?: readonly ToolSchema[] | undefined;
  /** Default `'auto'`. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Further variables of the chat template, such as `{ enable_thinking: false }`. Default none. */
  readonly templateVariables?: Readonly<Record<string, unknown>> | undefined;
}

/** What a client asks for, whatever words its API has for it. */
export interface AnswerRequest {
  /** Name of the model or adapter. Default: the served model. */
  readonly model?: string | undefined;
  /** Text gets the tokenizer's special tokens. Tokens stay as they are. */
  readonly prompt: string | readonly TokenId[] | Conversation;
  /** Default for `maxTokens`: what the context has room for. */
  readonly sampling?: Partial<SamplingOptions> | undefined;
  /** Answers wanted. Default 1. */
  readonly count?: number | undefined;
  /** Equal seeds give equal answers. Default: a seed by the order of requests. */
  readonly seed?: string | undefined;
  /** How many likely tokens are listed beside each sampled one. Default 0. */
  readonly topLogprobs?: number | undefined;
  /** `'ignored'` goes on past the model's end tokens. Default `'kept'`. */
  readonly ends?: 'kept' | 'ignored' | undefined;
  /** Maximum calls of tools in an answer. Later ones are left out. Default: no limit. */
  readonly maxCalls?: number | undefined;
  /** What else the client asked for, and cannot be done. Default nothing. */
  readonly unmet?: readonly Unmet[] | undefined;
}

/** Something that a client asked for and that would change the answer, but cannot be done. */
export interface Unmet {
  /** Field of the request. */
  readonly param: string;
  /** What is wrong with it, as the end of a sentence. */
  readonly problem: string;
}

/** A sampled token. */
export interface AnswerToken {
  readonly token: TokenId;
  /** At the sampling temperature, before filters. */
  readonly logprob: number;
  /** The likeliest tokens at this place, best first, as far as they were asked for. */
  readonly top?: readonly { readonly token: TokenId; readonly logprob: number }[] | undefined;
}

/** Why an answer ended. */
export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** One answer. */
export interface AnswerChoice {
  /** Text without the calls taken out of it. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  /** Stop string that ended the answer. */
  readonly stopString?: string | undefined;
  /** Everything that was sampled. Never tokenised again. */
  readonly tokens: readonly AnswerToken[];
}

/** Answers to a request. */
export interface Answer {
  /** The prompt as the model saw it. */
  readonly promptTokens: readonly TokenId[];
  readonly choices: readonly AnswerChoice[];
  /** Name of the weights that answered, and their version. */
  readonly model: string;
  readonly policyVersion: number;
}

/** A part of an answer, as it becomes certain. The texts of a member's pieces are its whole text. */
export type AnswerPiece =
  | {
      readonly type: 'text';
      readonly member: number;
      readonly text: string;
      /** Tokens since the last piece. */
      readonly tokens: readonly AnswerToken[];
    }
  | {
      readonly type: 'end';
      readonly member: number;
      /** The whole answer. */
      readonly choice: AnswerChoice;
      /** Tokens since the last piece. */
      readonly tokens: readonly AnswerToken[];
    };
