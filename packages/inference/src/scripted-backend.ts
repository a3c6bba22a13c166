import {
  ArgumentError,
  type ChatRenderer,
  type Completion,
  callback,
  parseOptions,
  type SampleRequest,
  type ScoreRequest,
  type TokenId,
  type Tokenizer,
  type TokenScores,
  type WeightPublication,
} from '@rlp/core';
import { CompletionText, completionText } from '@rlp/models';
import * as z from 'zod';
import { endTokens, type InferenceBackend, type ScoreOptions, type TokenLogits } from './backend.ts';
import { requireFittingPrompt, requireScorable } from './requests.ts';
import { resolveSampleRequest } from './sampling/options.ts';

/** What a scripted policy gets when it answers. */
export interface ScriptedPrompt {
  readonly prompt: readonly TokenId[];
  /** `prompt` as text, special tokens kept. */
  readonly text: string;
  readonly member: number;
  readonly seed: string;
}

const logprob = z.number().max(0);
const completionSchema = z.union([
  z.string(),
  z
    .strictObject({
      /** Token ids of the completion. Required. */
      tokens: z.array(z.int().nonnegative()).readonly(),
      /** Logprob of each token, in nats. Default: those of a uniform policy over the vocabulary. */
      behaviorLogprobs: z.array(logprob).readonly().optional(),
    })
    .refine((value) => (value.behaviorLogprobs ?? value.tokens).length === value.tokens.length, {
      path: ['behaviorLogprobs'],
      message: 'must hold one logprob per token',
    }),
]);

/** A completion to replay: text, or exact tokens with or without their logprobs. */
export type ScriptedCompletion = z.input<typeof completionSchema>;

const schema = z.strictObject({
  /** Completions that are replayed in order and repeated without end, or a function of the prompt. Required. */
  completions: z.union(
    [z.array(completionSchema).min(1).readonly(), callback<(prompt: ScriptedPrompt) => ScriptedCompletion>()],
    'must be a list of completions or a function of the prompt',
  ),
  /** Tokenizer that encodes completions and decodes prompts. Required. */
  tokenizer: z.custom<Tokenizer>(
    (value) => value !== null && typeof value === 'object',
    'must be a tokenizer',
  ),
  /** Renderer that turns messages into prompts. Default none: prompts must then be text or tokens. */
  renderer: z.custom<ChatRenderer>().optional(),
  /** Maximum tokens of a prompt and its completion together. Default 4096. */
  contextLength: z.int().min(2).default(4096),
});

/** Options of {@link scriptedBackend}. */
export interface ScriptedBackendOptions extends z.input<typeof schema> {}

type CompletionScript = z.output<typeof schema>['completions'];

/**
 * A policy that replays given completions, for tests, documentation and offline runs.
 *
 * A text is encoded and ends with the tokenizer's first end token. Budgets, stop tokens and stop strings cut it like a sampled one. Missing
 * logprobs are those of a uniform distribution over the vocabulary. Scoring reports the same logprobs.
 *
 * @throws OptionsError naming every problem at once.
 */
export function scriptedBackend(options: ScriptedBackendOptions): InferenceBackend {
  return new ScriptedBackend(parseOptions('scriptedBackend', schema, options));
}

class ScriptedBackend implements InferenceBackend {
  /** Accepts every publication and ignores it. */
  readonly accepts = ['shared', 'adapter', 'checkpoint'] as const;
  readonly tokenizer: Tokenizer;
  readonly renderer: ChatRenderer | undefined;
  readonly contextLength: number;
  readonly vocabularySize: number;
  policyVersion = 0;
  readonly #script: CompletionScript;
  #next = 0;
  #state: 'open' | 'closed' = 'open';

  constructor(options: z.output<typeof schema>) {
    this.tokenizer = options.tokenizer;
    this.renderer = options.renderer;
    this.contextLength = options.contextLength;
    this.vocabularySize = options.tokenizer.vocabularySize;
    this.#script = options.completions;
  }

  async sample(request: SampleRequest): Promise<readonly Completion[]> {
    this.#requireOpen();
    request.signal?.throwIfAborted();
    const resolved = resolveSampleRequest(request);
    requireFittingPrompt(this, resolved.prompt);
    const text = this.tokenizer.decode(resolved.prompt, { specialTokens: 'keep' });
    return Array.from({ length: resolved.count }, (_, member) => {
      const scripted = this.#scripted({ prompt: resolved.prompt, text, member, seed: resolved.seed });
      const completion = this.#cut(scripted, resolved);
      completion.tokens.forEach((token, index) => {
        request.onToken?.({ member, token, logprob: completion.behaviorLogprobs[index]! });
      });
      return completion;
    });
  }

  #scripted(prompt: ScriptedPrompt): { tokens: readonly TokenId[]; logprobs: readonly number[] } {
    const scripted =
      typeof this.#script === 'function'
        ? parseOptions('scriptedBackend: completion', completionSchema, this.#script(prompt))
        : this.#script[this.#next++ % this.#script.length]!;
    const tokens = typeof scripted === 'string' ? this.#encode(scripted) : scripted.tokens;
    const given = typeof scripted === 'string' ? undefined : scripted.behaviorLogprobs;
    const uniform = -Math.log(this.tokenizer.vocabularySize);
    return { tokens, logprobs: given ?? tokens.map(() => uniform) };
  }

  #encode(text: string): TokenId[] {
    return [...this.tokenizer.encode(text, { specialTokens: 'none' }), ...this.tokenizer.eosIds.slice(0, 1)];
  }

  #cut(
    { tokens, logprobs }: { tokens: readonly TokenId[]; logprobs: readonly number[] },
    request: ReturnType<typeof resolveSampleRequest>,
  ): Completion {
    const ends = endTokens(this.tokenizer, request.stopTokens);
    const { prompt, stopStrings } = request;
    const options = { tokenizer: this.tokenizer, prompt, endTokens: ends, stopStrings };
    const budget = Math.min(request.maxTokens, this.contextLength - request.prompt.length);
    const text = new CompletionText(options);
    let length = 0;
    let stopped = false;
    while (!stopped && length < Math.min(tokens.length, budget)) {
      const token = tokens[length++]!;
      stopped = ends.includes(token) || text.push(token).state === 'stopped';
    }
    return {
      tokens: tokens.slice(0, length),
      behaviorLogprobs: logprobs.slice(0, length),
      text: completionText(tokens.slice(0, length), options),
      stopReason: stopped || length < budget ? 'stop' : 'length',
      policyVersion: this.policyVersion,
    };
  }

  async scoreTokens(
    requests: readonly ScoreRequest[],
    { temperature, signal }: ScoreOptions = {},
  ): Promise<readonly TokenScores[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    requireScorable(this, requests, temperature);
    const entropy = Math.log(this.tokenizer.vocabularySize);
    return requests.map(({ completion }) => ({
      logprobs: new Float32Array(completion.length).fill(-entropy),
      entropies: new Float32Array(completion.length).fill(entropy),
    }));
  }

  async scoreLogits(
    requests: readonly ScoreRequest[],
    { signal }: ScoreOptions = {},
  ): Promise<readonly TokenLogits[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    requireScorable(this, requests);
    const { vocabularySize } = this;
    return requests.map(({ completion }) => ({
      logits: new Float32Array(completion.length * vocabularySize),
      vocabularySize,
    }));
  }

  /** Adopts the version. This backend has no weights. */
  async updateWeights(publication: WeightPublication, signal?: AbortSignal): Promise<number> {
    this.#requireOpen();
    signal?.throwIfAborted();
    this.policyVersion = publication.version;
    return publication.version;
  }

  async close(): Promise<void> {
    this.#state = 'closed';
  }

  #requireOpen(): void {
    if (this.#state === 'closed')
      throw new ArgumentError('scriptedBackend: it has been closed; create another one');
  }
}
