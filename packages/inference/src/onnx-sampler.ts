import {
  ArgumentError,
  type ChatRenderer,
  type Completion,
  EngineError,
  type SampleRequest,
  SamplerError,
  type ScoreRequest,
  type SharedWeights,
  type TokenId,
  type Tokenizer,
  type TokenScores,
  type WeightPublication,
  type Weights,
} from '@rlp/core';
import {
  adaptedWeights,
  CompletionText,
  checkWeightShapes,
  completionText,
  type LanguageModel,
  type ModelConfig,
  type TextOptions,
} from '@rlp/models';
import { parameterSpecs } from '@rlp/models/decoder';
import { type Engine, programUrl, type RunningProgram } from '@rlp/onnx/runtime';
import { endTokens, type InferenceBackend, type ScoreOptions, type TokenLogits } from './backend.ts';
import { copiedWeightBytes } from './copied-weights.ts';
import type { GeneratedSequence } from './decoding/groups.ts';
import type { GenerationProgram, GenerationProgramOptions, TokenEvent } from './generate.program.ts';
import {
  type OnnxSamplerOptions,
  type ResolvedOnnxSamplerOptions,
  resolveSamplerOptions,
} from './onnx-sampler-options.ts';
import { readAdapter, readCheckpoint } from './published-files.ts';
import { requireFittingPrompt, requireScorable } from './requests.ts';
import { type ResolvedSampleRequest, resolveSampleRequest } from './sampling/options.ts';
import { TurnGate } from './turn-gate.ts';

/**
 * A policy on ONNX Runtime. Generation and sampling run as a program in the engine's thread. Only tokens and their logprobs come out.
 *
 * Concurrent requests are batched continuously. Members of a group and equal prompts share their prefill. Each sequence draws from its own
 * random stream.
 *
 * @throws OptionsError naming every problem at once; ArgumentError for a context that the model does not support, for a store that does not
 *   hold the model or was made from another one, or for weights that do not fit the config; EngineError if the engine cannot run it.
 */
export async function createOnnxSampler(options: OnnxSamplerOptions): Promise<InferenceBackend> {
  const resolved = resolveSamplerOptions(options);
  const { engine, model, store } = resolved;
  if (!engine.hasStore(store)) await createStore(engine, store, model);
  else requireOwnWeights(resolved);
  const program = await engine.start<GenerationProgram>(
    { url: programUrl(import.meta.url, './generate.program'), load: () => import('./generate.program.ts') },
    programOptions(resolved),
  );
  return new OnnxSampler(resolved, program);
}

/** Refuses a store with other weights. Otherwise a judge beside a policy would answer with the policy's weights. */
function requireOwnWeights({ engine, model, store }: ResolvedOnnxSamplerOptions): void {
  if (engine.wasCreatedWith(store, model.weights)) return;
  throw new ArgumentError(
    `createOnnxSampler: store "${store}" was created with the weights of another model; choose another name, such as store: "${store} 2", or pass the model that the store was made from`,
  );
}

async function createStore(engine: Engine, name: string, { config, weights }: LanguageModel): Promise<void> {
  const parameters = parameterSpecs(config).map((parameter) => ({
    name: parameter.name,
    shape: parameter.shape,
  }));
  checkWeightShapes('createOnnxSampler', parameters, weights);
  await engine.createStore({ name, parameters }, weights);
}

function programOptions(resolved: ResolvedOnnxSamplerOptions): GenerationProgramOptions {
  const { engine: _engine, model, renderer: _renderer, ...options } = resolved;
  return { ...options, config: model.config };
}

class OnnxSampler implements InferenceBackend {
  readonly accepts = ['shared', 'adapter', 'checkpoint'] as const;
  readonly tokenizer: Tokenizer;
  readonly renderer: ChatRenderer | undefined;
  readonly contextLength: number;
  readonly vocabularySize: number;
  /** Without the model's weights, so that the caller's copy can be collected. */
  readonly #config: ModelConfig;
  readonly #folder: string | undefined;
  readonly #engine: Engine;
  readonly #store: string;
  readonly #weights: ResolvedOnnxSamplerOptions['weights'];
  readonly #program: RunningProgram<GenerationProgram>;
  readonly #turn: TurnGate;
  readonly #maxSequences: number;
  readonly #prefixCacheBytes: number;
  #policyVersion: number;
  /** Layers that adapters correct, as they were before the first adapter. */
  #base: Weights | undefined;
  #requests = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ResolvedOnnxSamplerOptions, program: RunningProgram<GenerationProgram>) {
    const { engine, model, store, renderer, contextLength, policyVersion, maxSequences, prefixCacheBytes } =
      options;
    this.#config = model.config;
    this.#folder = model.folder;
    this.#engine = engine;
    this.#store = store;
    this.#weights = options.weights;
    this.#program = program;
    this.#maxSequences = maxSequences;
    this.#prefixCacheBytes = prefixCacheBytes;
    this.#turn = new TurnGate(() => this.#ask('begin', undefined));
    this.#policyVersion = policyVersion;
    this.tokenizer = model.tokenizer;
    this.renderer = renderer ?? model.chat;
    this.contextLength = contextLength;
    this.vocabularySize = model.config.vocabularySize;
  }

  cacheBytes(tokens: number, sequences = this.#maxSequences): number {
    const { layers, keyValueHeads, headDimension } = this.#config;
    const positions = Math.min(sequences, this.#maxSequences) * Math.min(tokens, this.contextLength);
    const running = 2 * Float32Array.BYTES_PER_ELEMENT * positions * layers * keyValueHeads * headDimension;
    return running + Math.min(running, this.#prefixCacheBytes);
  }

  get weightBytes(): number {
    return copiedWeightBytes(this.#config, this.#weights);
  }

  get shares(): SharedWeights {
    return { engine: this.#engine, store: this.#store };
  }

  get policyVersion(): number {
    return this.#policyVersion;
  }

  async sample(request: SampleRequest): Promise<readonly Completion[]> {
    this.#requireOpen();
    request.signal?.throwIfAborted();
    const resolved = resolveSampleRequest(request);
    requireFittingPrompt(this, resolved.prompt);
    const ends = endTokens(this.tokenizer, resolved.stopTokens);
    const watch = new RequestWatch(this.#textOptions(resolved, ends), resolved.count, request.onToken);
    const id = this.#requests++;
    const { stopStrings: _stopStrings, ...wire } = resolved;
    const group = await this.#call('sample', request.signal, () =>
      this.#turn.pass(() =>
        this.#program.call(
          'generate',
          { id, request: { ...wire, stopTokens: ends }, events: watch.wanted ? 'tokens' : 'none' },
          {
            signal: request.signal,
            onEvent: (event: TokenEvent) => {
              // The engine runs ahead of this thread: what it samples until it learns of the stop is cut off again.
              if (watch.take(event) === 'stopped') this.#ask('finish', { id, member: event.member });
            },
          },
        ),
      ),
    );
    return group.sequences.map((sequence, member) => ({
      ...watch.complete(sequence, member),
      policyVersion: group.policyVersion,
    }));
  }

  #textOptions({ prompt, stopStrings }: ResolvedSampleRequest, ends: readonly TokenId[]): TextOptions {
    return { tokenizer: this.tokenizer, prompt, endTokens: ends, stopStrings };
  }

  /** Makes a call without waiting for it. If the program has ended, its requests report that themselves. */
  #ask<Method extends 'begin' | 'finish'>(
    method: Method,
    argument: Parameters<GenerationProgram[Method]>[0],
  ): void {
    this.#program.call(method, argument).catch(() => undefined);
  }

  async scoreTokens(
    requests: readonly ScoreRequest[],
    { temperature = 1, signal }: ScoreOptions = {},
  ): Promise<readonly TokenScores[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    requireScorable(this, requests, temperature);
    return this.#call('scoreTokens', signal, () =>
      this.#program.call('score', { requests, temperature }, { signal }),
    );
  }

  async scoreLogits(
    requests: readonly ScoreRequest[],
    { signal }: Omit<ScoreOptions, 'temperature'> = {},
  ): Promise<readonly TokenLogits[]> {
    this.#requireOpen();
    signal?.throwIfAborted();
    requireScorable(this, requests);
    return this.#call('scoreLogits', signal, () =>
      this.#program.call('scoreLogits', { requests }, { signal }),
    );
  }

  async updateWeights(publication: WeightPublication, signal?: AbortSignal): Promise<number> {
    this.#requireOpen();
    signal?.throwIfAborted();
    this.#turn.open();
    const { version } = publication;
    const weights = await this.#publishedWeights(publication);
    signal?.throwIfAborted();
    await this.#call('updateWeights', undefined, async () => {
      if (weights !== undefined) await this.#engine.writeStore(this.#store, weights);
      await this.#program.call('refresh', { version });
    });
    this.#policyVersion = version;
    return version;
  }

  /** Weights to copy into the store, or `undefined` if it has them already. */
  async #publishedWeights(publication: WeightPublication): Promise<Weights | undefined> {
    if (publication.kind !== 'shared') await this.#requireFloats(publication);
    if (publication.kind === 'adapter') return this.#corrected(publication.path);
    this.#base = undefined;
    if (publication.kind === 'checkpoint') return readCheckpoint(this.#config, publication.path);
    const { engine, store } = publication;
    if (engine === this.#engine && store === this.#store) return undefined;
    throw new SamplerError(
      engine === this.#engine
        ? `updateWeights: weights were published in store "${store}", but this sampler reads "${this.#store}"; give both the same store`
        : "updateWeights: weights were published in another engine; create sampler and backend in one, or publish as 'checkpoint'",
    );
  }

  /** Refuses other weights if a trainer stores them quantized. Only that trainer can publish then. */
  async #requireFloats({ kind }: WeightPublication): Promise<void> {
    const base = await this.#program.call('base', undefined);
    if (base === 'float32') return;
    throw new SamplerError(
      `updateWeights: store "${this.#store}" holds the linear layers in ${base === 'int8' ? 8 : 4} bits, so an '${kind}' cannot be written to it; publish as 'shared'`,
    );
  }

  /** Layers that an adapter corrects, with its correction. The first adapter reads the uncorrected layers. */
  async #corrected(path: string): Promise<Weights> {
    const adapter = await readAdapter({ config: this.#config, folder: this.#folder }, path);
    this.#base ??= new Map(await this.#engine.readStore(this.#store));
    // A later adapter may correct other layers: what an earlier one changed goes back.
    return new Map([...this.#base, ...adaptedWeights(this.#base, adapter)]);
  }

  close(): Promise<void> {
    this.#turn.open();
    this.#closing ??= this.#program.stop();
    return this.#closing;
  }

  #requireOpen(): void {
    if (this.#closing !== undefined)
      throw new ArgumentError('createOnnxSampler: it has been closed; create another one');
  }

  /** Rethrows the abort reason as it is, and engine failures as a `SamplerError`. */
  async #call<Result>(
    owner: string,
    signal: AbortSignal | undefined,
    call: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await call();
    } catch (cause) {
      signal?.throwIfAborted();
      if (!(cause instanceof EngineError)) throw cause;
      throw new SamplerError(`${owner}: ${cause.message}`, { cause });
    }
  }
}

/** Follows the tokens of a request: reports them, and looks for stop strings. */
class RequestWatch {
  readonly wanted: boolean;
  readonly #options: TextOptions;
  readonly #onToken: SampleRequest['onToken'];
  readonly #texts: readonly CompletionText[];
  /** Number of tokens of each member that count. */
  readonly #lengths: number[];
  readonly #stopped: boolean[];

  constructor(options: TextOptions, count: number, onToken: SampleRequest['onToken']) {
    this.#options = options;
    this.#onToken = onToken;
    this.wanted = onToken !== undefined || options.stopStrings.length > 0;
    this.#texts = Array.from({ length: count }, () => new CompletionText(options));
    this.#lengths = Array.from({ length: count }, () => 0);
    this.#stopped = Array.from({ length: count }, () => false);
  }

  take(event: TokenEvent): 'open' | 'stopped' {
    const { member, token } = event;
    if (this.#stopped[member]) return 'open';
    this.#lengths[member]!++;
    this.#onToken?.(event);
    if (this.#options.stopStrings.length === 0) return 'open';
    const { state } = this.#texts[member]!.push(token);
    this.#stopped[member] = state === 'stopped';
    return state;
  }

  complete(sequence: GeneratedSequence, member: number): Omit<Completion, 'policyVersion'> {
    const stopped = this.#stopped[member]!;
    const length = stopped ? this.#lengths[member]! : sequence.tokens.length;
    const tokens = sequence.tokens.slice(0, length);
    return {
      tokens,
      behaviorLogprobs: sequence.logprobs.slice(0, length),
      text: completionText(tokens, this.#options),
      stopReason: stopped ? 'stop' : sequence.stopReason,
    };
  }
}
