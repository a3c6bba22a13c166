import { type Message, promptMessages, type State } from '@rlp/core';

/** Messages about calls that stand between two messages of the environment. */
export interface Exchange {
  /** Messages of the environment's own prompt before it. */
  readonly after: number;
  /** What the policy called, and what the tools answered. */
  readonly messages: readonly Message[];
}

/** What an episode did with its tools. Part of the state. */
export interface ToolUse {
  readonly exchanges: readonly Exchange[];
  /** Calls that were run. */
  readonly calls: number;
  /** Calls that failed or were refused. */
  readonly errors: number;
  /** Sum of the costs of the calls. */
  readonly spent: number;
  /** What the environment itself has heard. Responses that only call tools are not told to it. */
  readonly heard: Pick<State, 'response' | 'stepCount'>;
}

/** The prompt of an environment with the exchanges put in where they happened. */
export function withExchanges(
  prompt: string | readonly Message[],
  exchanges: readonly Exchange[],
): readonly Message[] {
  const own = promptMessages(prompt);
  const messages: Message[] = [];
  let from = 0;
  for (const { after, messages: said } of exchanges) {
    messages.push(...own.slice(from, after), ...said);
    from = Math.max(from, after);
  }
  return [...messages, ...own.slice(from)];
}
