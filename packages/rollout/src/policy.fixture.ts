/** A policy and a tokenizer for tests: characters are tokens, and a function of the prompt speaks. */
import {
  type ChatRenderer,
  type Completion,
  RandomStream,
  type SampleRequest,
  type Sampler,
  type Tokenizer,
} from '@rlp/core';

const END = 0;

/** Tokens are character codes; 0 ends a completion and is written `¶`. */
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

/** `role:content¶` per message. */
export const chat: ChatRenderer = {
  render: (messages, { generationPrompt = 'add' } = {}) =>
    characters.encode(
      messages.map(({ role, content }) => `${role}:${content}¶`).join('') +
        (generationPrompt === 'add' ? 'assistant:' : ''),
    ),
};

/** Answers a prompt, drawing from the stream that the request names. */
export type Speak = (prompt: string, stream: RandomStream) => string;

/** How a test policy behaves. */
export interface PolicyOptions {
  readonly speak: Speak;
  /** Milliseconds a request takes. */
  readonly delay?: (request: SampleRequest) => number;
  readonly policyVersion?: () => number;
}

/** A sampler that records its requests. */
export interface RecordingSampler extends Sampler {
  readonly requests: SampleRequest[];
}

/** A policy that says what `speak` says, cut at the token budget. Logprobs are −0.5 each. */
export function policy({ speak, delay, policyVersion = () => 0 }: PolicyOptions): RecordingSampler {
  const requests: SampleRequest[] = [];
  return {
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
}
