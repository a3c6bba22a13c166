/** For tests of code that collects rollouts. An environment that only counts, and a policy that is a function. */
import {
  type ChatRenderer,
  type Completion,
  type Environment,
  parseToolCalls,
  RandomStream,
  type SampleRequest,
  type Sampler,
  type State,
  type Tokenizer,
} from '@rlp/core';
import type { RolloutPolicy } from './coordinator.ts';

const END = 0;

/** Tokens are character codes. Code 0 ends a completion and is written `¶`. */
export const characters: Tokenizer = {
  vocabularySize: 0x2000,
  bosId: undefined,
  eosIds: [END],
  encode: (text) => [...text].map((character) => (character === '¶' ? END : character.codePointAt(0)!)),
  decode: (tokens, { specialTokens = 'skip' } = {}) =>
    tokens
      .filter((token) => token !== END || specialTokens === 'keep')
      .map((token) => (token === END ? '¶' : String.fromCodePoint(token)))
      .join(''),
};

/** `role:content¶` per message. Tool calls as Hermes and Qwen write them. */
export const chat: ChatRenderer = {
  render: (messages, { generationPrompt = 'add' } = {}) =>
    characters.encode(
      messages.map(({ role, content }) => `${role}:${content}¶`).join('') +
        (generationPrompt === 'add' ? 'assistant:' : ''),
    ),
  parseToolCalls: (text) => parseToolCalls(text),
};

/** Answers a prompt, drawing from the stream that the request names. */
export type Speak = (prompt: string, stream: RandomStream) => string;

/** Options of {@link mockPolicy}. */
export interface MockPolicyOptions {
  /** Text of an answer. By default always `ok`. */
  readonly speak?: Speak | undefined;
  /** Milliseconds that a request takes. Default 0. */
  readonly delay?: ((request: SampleRequest) => number) | undefined;
  /** Version of the weights. Default 0. */
  readonly policyVersion?: (() => number) | undefined;
}

/** A sampler that records its requests. */
export interface RecordingSampler extends Sampler {
  readonly requests: SampleRequest[];
}

/** A policy with a sampler that records. */
export interface MockPolicy extends RolloutPolicy {
  readonly sampler: RecordingSampler;
}

/** A policy that says what `speak` says, one character per token, cut at the token budget. Each logprob is −0.5. */
export function mockPolicy({
  speak = () => 'ok',
  delay,
  policyVersion = () => 0,
}: MockPolicyOptions = {}): MockPolicy {
  const requests: SampleRequest[] = [];
  const sampler: RecordingSampler = {
    requests,
    get policyVersion() {
      return policyVersion();
    },
    async sample(request) {
      requests.push(request);
      request.signal?.throwIfAborted();
      const prompt = characters.decode(request.prompt);
      if (delay !== undefined) await new Promise((resolve) => setTimeout(resolve, delay(request)));
      request.signal?.throwIfAborted();
      return Array.from({ length: request.count }, (_, member): Completion => {
        const text = speak(prompt, RandomStream.named(request.seed, member));
        const whole = [...characters.encode(text), END];
        const tokens = whole.slice(0, request.maxTokens);
        return {
          tokens,
          behaviorLogprobs: tokens.map(() => -0.5),
          text: characters.decode(tokens),
          stopReason: tokens.length < whole.length ? 'length' : 'stop',
          policyVersion: policyVersion(),
        };
      });
    },
  };
  return { sampler, tokenizer: characters, chat };
}

/** An environment that shows the task's prompt and the number of the turn, such as `Why?0`. It ends after `turns` responses. Default 1. */
export function mockEnvironment({ turns = 1 }: { readonly turns?: number | undefined } = {}): Environment {
  return {
    reset: ({ prompt }) => ({ prompt, response: '', stepCount: 0 }),
    buildPrompt: ({ prompt, stepCount }: State) => `${String(prompt)}${stepCount}`,
    updateState: (state, response) => ({ ...state, response, stepCount: state.stepCount + 1 }),
    isTerminal: ({ stepCount }) => stepCount >= turns,
  };
}
