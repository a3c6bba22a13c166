import {
  callback,
  type Message,
  parseOptions,
  promptMessages,
  type State,
  type Task,
  withForeignNames,
} from '@rlp/core';
import * as z from 'zod';
import { BaseEnvironment } from './base-environment.ts';

const schema = withForeignNames(
  z.strictObject({
    systemPrompt: z.string().min(1).optional(),
    maxTurns: z.int().min(1).default(1),
    nextUserTurn: callback<NextUserTurn<never>>().optional(),
  }),
  { maxTurns: 'max_steps' },
);

/** What the other side of a conversation knows when it speaks. */
export interface ConversationView<Metadata = unknown> {
  /** The conversation so far, ending with the policy's message. */
  readonly messages: readonly Message[];
  /** Responses of the policy so far. */
  readonly turn: number;
  readonly metadata: Metadata;
}

/** Returns what the user says next, or `undefined` to end the conversation. */
export type NextUserTurn<Metadata = unknown> = (
  conversation: ConversationView<Metadata>,
) => string | undefined | Promise<string | undefined>;

/** Options of {@link ConversationEnvironment}. */
export interface ConversationOptions<Metadata = unknown> {
  /** Goes before the task's own messages. Default none. */
  readonly systemPrompt?: string | undefined;
  /** Responses of the policy, after which the conversation is over. Default 1. */
  readonly maxTurns?: number | undefined;
  /** Speaks for the user between responses. By default the conversation ends after the first response. */
  readonly nextUserTurn?: NextUserTurn<Metadata> | undefined;
}

/** State of a conversation. */
export interface ConversationState<Metadata = unknown> extends State {
  /** Everything said so far. */
  readonly prompt: readonly Message[];
  readonly metadata: Metadata;
  readonly isOver: boolean;
}

/**
 * A dialogue of one turn or many. A task whose prompt is text opens it as the user's first message. A task whose
 * prompt is messages continues them. History is only ever appended to.
 */
export class ConversationEnvironment<Metadata = unknown> extends BaseEnvironment<
  ConversationState<Metadata>,
  Metadata
> {
  readonly #systemMessages: readonly Message[];
  readonly #maxTurns: number;
  readonly #nextUserTurn: NextUserTurn<Metadata>;

  /** @throws OptionsError naming every problem at once. */
  constructor(options: ConversationOptions<Metadata> = {}) {
    super();
    const { systemPrompt, maxTurns } = parseOptions(
      'ConversationEnvironment',
      schema,
      options,
      'ConversationOptions',
    );
    this.#systemMessages = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }];
    this.#maxTurns = maxTurns;
    this.#nextUserTurn = options.nextUserTurn ?? (() => undefined);
  }

  override reset({ prompt, metadata }: Task<Metadata>): ConversationState<Metadata> {
    return {
      prompt: [...this.#systemMessages, ...promptMessages(prompt)],
      response: '',
      stepCount: 0,
      metadata,
      isOver: false,
    };
  }

  override isTerminal({ isOver }: ConversationState<Metadata>): boolean {
    return isOver;
  }

  override async updateState(
    state: ConversationState<Metadata>,
    response: string,
  ): Promise<ConversationState<Metadata>> {
    const messages: readonly Message[] = [...state.prompt, { role: 'assistant', content: response }];
    const turn = state.stepCount + 1;
    const content =
      turn >= this.#maxTurns
        ? undefined
        : await this.#nextUserTurn({ messages, turn, metadata: state.metadata });
    return {
      ...state,
      prompt: content === undefined ? messages : [...messages, { role: 'user', content }],
      response,
      stepCount: turn,
      isOver: content === undefined,
    };
  }
}
