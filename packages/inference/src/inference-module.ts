import {
  ArgumentError,
  type ChatRenderer,
  type Completion,
  type InferenceEngine,
  type Message,
  type PublicationForm,
  parseToolCalls,
  promptMessages,
  type SampleRequest,
  type Sampler,
  type ScoreRequest,
  type SharedWeights,
  type TokenId,
  type Tokenizer,
  type TokenScorer,
  type TokenScores,
  type WeightPublication,
} from '@rlp/core';
import { CompletionText } from '@rlp/models';
import { endTokens, type InferenceBackend, type ScoreOptions, type TokenLogits } from './backend.ts';
import { type BackendName, backendNamed, isBackend } from './backend-named.ts';
import {
  type GeneratedText,
  type GenerateOptions,
  type ResolvedGenerateOptions,
  resolveGenerateOptions,
} from './generate-options.ts';
import { type Prompt, promptTokens, type Response, responseTokens } from './prompts.ts';
import { TextStream } from './text-stream.ts';
import { type OfferedTool, type ToolResponses, toolSchema } from './tool-calls.ts';

/** Options of {@link InferenceModule.create}. */
export interface InferenceModuleOptions {
  /**
   * Backend from `createOnnxSampler`, `createVllmSampler`, `scriptedBackend` or your own code, or the name of a backend. The module closes
   * it. Required.
   */
  readonly backend: InferenceBackend | Promise<InferenceBackend> | BackendName;
  /** Folder of the model, if `backend` is a name. Default: none. */
  readonly model?: string | undefined;
  /** Address of the server, if `backend` is `'vllm'` or `'sglang'`. Default: none. */
  readonly url?: string | undefined;
  /** Renderer that turns messages into prompts. Defaults to the backend's chat template. */
  readonly renderer?: ChatRenderer | undefined;
}

/**
 * A policy that generates and scores, with text or with tokens.
 *
 * The backend does the work. The module converts prompts and responses to tokens and back. Concurrent calls are batched together.
 */
export class InferenceModule implements Sampler, TokenScorer, InferenceEngine {
  readonly backend: InferenceBackend;
  readonly renderer: ChatRenderer | undefined;
  #calls = 0;

  private constructor(backend: InferenceBackend, renderer: ChatRenderer | undefined) {
    this.backend = backend;
    this.renderer = renderer;
  }

  /**
   * Creates a module once its backend has started. Rejects as the backend does.
   *
   *     InferenceModule.create({ backend: 'vllm', model: 'folder/of/the/model', url: 'http://127.0.0.1:8000' })
   *
   * @throws ArgumentError for an unknown name, or for a value that is not a backend.
   */
  static async create(options: InferenceModuleOptions): Promise<InferenceModule> {
    const { backend, renderer } = options;
    const started = await (isBackend(backend) ? backend : backendNamed(backend, options));
    return new InferenceModule(started, renderer ?? started.renderer);
  }

  get accepts(): readonly PublicationForm[] {
    return this.backend.accepts;
  }

  get refusals(): InferenceEngine['refusals'] {
    return this.backend.refusals;
  }

  get shares(): SharedWeights | undefined {
    return this.backend.shares;
  }

  /** Size of the model's vocabulary. At least that of its tokenizer. */
  get vocabularySize(): number {
    return this.backend.vocabularySize;
  }

  /** Bytes that sequences with this many tokens need while they are sampled. 0 if the backend cannot tell. */
  cacheBytes(tokens: number, sequences?: number): number {
    return this.backend.cacheBytes?.(tokens, sequences) ?? 0;
  }

  /** Bytes of host memory of the sampler's own copy of the weights. 0 if it has none, or the backend cannot tell. */
  get weightBytes(): number {
    return this.backend.weightBytes ?? 0;
  }

  get tokenizer(): Tokenizer {
    return this.backend.tokenizer;
  }

  /** Version of the weights that the next request is sampled with. */
  get policyVersion(): number {
    return this.backend.policyVersion;
  }

  /** Maximum tokens of a prompt and its completion together. */
  get contextLength(): number {
    return this.backend.contextLength;
  }

  /** Samples `count` completions of a prompt given as tokens. See core's `Sampler`. */
  sample(request: SampleRequest): Promise<readonly Completion[]> {
    return this.backend.sample(request);
  }

  /** Probabilities of text given as tokens. See core's `TokenScorer`. */
  scoreTokens(requests: readonly ScoreRequest[], options?: ScoreOptions): Promise<readonly TokenScores[]> {
    return this.backend.scoreTokens(requests, options);
  }

  /** Takes over new weights. See core's `InferenceEngine`. */
  updateWeights(publication: WeightPublication, signal?: AbortSignal): Promise<number> {
    return this.backend.updateWeights(publication, signal);
  }

  /**
   * Completes prompts, all of them at once.
   *
   * @returns `count` completions of the first prompt, then of the second, and so on. Shape: `[prompts · count]`.
   * @throws OptionsError, ArgumentError (a prompt that does not fit), SamplerError, or the signal's reason. A failing prompt stops the
   *   others.
   */
  async generate(prompts: readonly Prompt[], options: GenerateOptions = {}): Promise<GeneratedText[]> {
    const resolved = resolveGenerateOptions(options);
    requireList('generate', 'prompts', prompts);
    const seed = resolved.seed ?? `generate/${this.#calls++}`;
    const encoded = prompts.map((prompt) => promptTokens(this, prompt));
    const stop = new AbortController();
    const signal =
      options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    try {
      const groups = await Promise.all(
        encoded.map((tokens, prompt) =>
          this.#complete(tokens, prompt, { ...resolved, seed: `${seed}/${prompt}` }, { ...options, signal }),
        ),
      );
      return groups.flat();
    } catch (error) {
      stop.abort(error);
      throw error;
    }
  }

  /**
   * Streams the completion of one prompt: pieces of text as they become certain.
   *
   *     for await (const text of inference.stream('Once upon a time')) process.stdout.write(text);
   *
   * Leaving the loop stops the generation. Throws what {@link InferenceModule.generate} throws.
   */
  stream(prompt: Prompt, options: Omit<GenerateOptions, 'count' | 'onText'> = {}): AsyncIterable<string> {
    return new TextStream((onText, signal) =>
      this.generate([prompt], {
        ...options,
        signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]),
        onText: ({ text }) => onText(text),
      }),
    );
  }

  /**
   * Completes prompts with tools, and separates the calls from the text.
   *
   * The chat template shows the tools to the model. Calls are recognised in the forms of `toolCallFormats` of `@rlp/core`. They are
   * returned, not executed.
   *
   * @throws ArgumentError if the model has no chat template; else what {@link InferenceModule.generate} throws.
   */
  async batchGenerateWithTools(
    prompts: readonly (string | readonly Message[])[],
    availableTools: readonly OfferedTool[],
    options: Omit<GenerateOptions, 'count'> = {},
  ): Promise<ToolResponses> {
    requireList('batchGenerateWithTools', 'prompts', prompts);
    requireList('batchGenerateWithTools', 'tools', availableTools);
    const tools = availableTools.map(toolSchema);
    const encoded = prompts.map((prompt) => promptTokens(this, promptMessages(prompt), tools));
    const results = await this.generate(encoded, options);
    const parsed = results.map(({ text }) => parseToolCalls(text, tools));
    return { responses: parsed.map(({ text }) => text), toolCalls: parsed.map(({ calls }) => calls) };
  }

  async #complete(
    prompt: readonly TokenId[],
    index: number,
    resolved: ResolvedGenerateOptions & { readonly seed: string },
    { onText, signal }: GenerateOptions,
  ): Promise<GeneratedText[]> {
    const texts = onText && Array.from({ length: resolved.count }, () => this.#newText(prompt, resolved));
    const report = (member: number, text: string) => {
      if (text !== '') onText?.({ prompt: index, member, text });
    };
    const completions = await this.backend.sample({
      ...resolved,
      prompt,
      signal,
      onToken: texts && (({ member, token }) => report(member, texts[member]!.push(token).text)),
    });
    return completions.map(({ behaviorLogprobs, ...completion }, member) => {
      if (texts) report(member, texts[member]!.flush());
      return { ...completion, logprobs: behaviorLogprobs, promptTokens: prompt, prompt: index, member };
    });
  }

  #newText(prompt: readonly TokenId[], { stopTokens, stopStrings }: ResolvedGenerateOptions): CompletionText {
    return new CompletionText({
      tokenizer: this.tokenizer,
      prompt,
      endTokens: endTokens(this.tokenizer, stopTokens),
      stopStrings,
    });
  }

  /**
   * Logprobs of given responses: `ln π(response[t] | prompt, response[<t])`.
   *
   * @returns One array for each response, one number for each of its tokens.
   * @throws ArgumentError if the numbers of prompts and responses differ, or if they do not fit the context.
   */
  async getLogprobs(
    prompts: readonly Prompt[],
    responses: readonly Response[],
    options: ScoreOptions = {},
  ): Promise<Float32Array[]> {
    const requests = this.#pairs('getLogprobs', prompts, responses);
    return (await this.backend.scoreTokens(requests, options)).map(({ logprobs }) => logprobs);
  }

  /** Entropies of the distributions of given responses' tokens, in nats. Same shape as {@link InferenceModule.getLogprobs}. */
  async getEntropies(
    prompts: readonly Prompt[],
    responses: readonly Response[],
    options: ScoreOptions = {},
  ): Promise<Float32Array[]> {
    const requests = this.#pairs('getEntropies', prompts, responses);
    return (await this.backend.scoreTokens(requests, options)).map(({ entropies }) => entropies);
  }

  /** Full logits of the distributions of given responses' tokens, for exact KL divergences. Large: `T · V` numbers per response. */
  async getLogits(
    prompts: readonly Prompt[],
    responses: readonly Response[],
    options: Omit<ScoreOptions, 'temperature'> = {},
  ): Promise<readonly TokenLogits[]> {
    return this.backend.scoreLogits(this.#pairs('getLogits', prompts, responses), options);
  }

  #pairs(owner: string, prompts: readonly Prompt[], responses: readonly Response[]): ScoreRequest[] {
    requireList(owner, 'prompts', prompts);
    requireList(owner, 'responses', responses);
    if (prompts.length !== responses.length) {
      throw new ArgumentError(
        `${owner}: expected one response for each prompt, got ${prompts.length} prompts and ${responses.length} responses`,
      );
    }
    return prompts.map((prompt, index) => ({
      prompt: promptTokens(this, prompt),
      completion: responseTokens(this, prompt, responses[index]!),
    }));
  }

  /** Frees the backend. Later calls reject. Idempotent. */
  close(): Promise<void> {
    return this.backend.close();
  }
}

/** Refuses a single prompt in place of a list. Text would count as a list of letters. */
function requireList(owner: string, what: string, value: unknown): void {
  if (Array.isArray(value)) return;
  throw new ArgumentError(`${owner}: expected a list of ${what}, got ${typeof value}: put it in brackets`);
}
