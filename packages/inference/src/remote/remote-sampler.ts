import {
  ArgumentError,
  allWithSignals,
  type ChatRenderer,
  type Completion,
  type InferenceEngine,
  orAborted,
  type PublicationForm,
  RandomStream,
  type SampleRequest,
  SamplerError,
  type ScoreRequest,
  type Tokenizer,
  type TokenScores,
  type WeightPublication,
  withSignals,
} from '@rlp/core';
import { RequestError } from '@rlp/http/client';
import { CompletionText, completionText } from '@rlp/models';
import { endTokens, type InferenceBackend, type ScoreOptions, type TokenLogits } from '../backend.ts';
import { reportTokens, requireFittingPrompt, requireScorable } from '../requests.ts';
import { type ResolvedSampleRequest, resolveSampleRequest } from '../sampling/options.ts';
import { type CheckedSequence, checkedSequences } from './checked-sequences.ts';
import { samplerError } from './remedies.ts';
import type { PublicationInFiles, RemoteServer, RemoteWeights } from './remote-server.ts';
import { logitsAt, scoresAt } from './scores.ts';
import { SharedLock } from './shared-lock.ts';

/** Model that a {@link RemoteSampler} samples from. */
export interface RemoteModel {
  readonly tokenizer: Tokenizer;
  readonly renderer: ChatRenderer | undefined;
  readonly contextLength: number;
  readonly vocabularySize: number;
  /** Whether entropies are computed. They need the whole distribution of every position. */
  readonly entropies: 'unknown' | 'exact';
  /** Weights of the server. */
  readonly weights: RemoteWeights;
}

/**
 * A policy on a server. Prompts and completions are sent as tokens. Weights of one version answer each request. Answers are checked against
 * their requests.
 */
export class RemoteSampler implements InferenceBackend {
  readonly tokenizer: Tokenizer;
  readonly renderer: ChatRenderer | undefined;
  readonly contextLength: number;
  readonly vocabularySize: number;
  readonly #server: RemoteServer;
  readonly #entropies: RemoteModel['entropies'];
  readonly #initial: RemoteWeights;
  #weights: RemoteWeights;
  /** Whether the server may have lost its weights: it was unreachable, or does not know the model. */
  #isSuspect = false;
  #updates: Promise<unknown> = Promise.resolve();
  /** Whether an update replaces the weights that earlier requests ask for. */
  #isLoading = false;
  #recovery: Promise<void> | undefined;
  readonly #lock = new SharedLock();
  readonly #inUse = new Map<RemoteWeights, number>();
  readonly #closing = new AbortController();

  constructor(server: RemoteServer, model: RemoteModel) {
    this.#server = server;
    this.tokenizer = model.tokenizer;
    this.renderer = model.renderer;
    this.contextLength = model.contextLength;
    this.vocabularySize = model.vocabularySize;
    this.#entropies = model.entropies;
    this.#weights = model.weights;
    this.#initial = model.weights;
  }

  get accepts(): readonly PublicationForm[] {
    return this.#server.abilities.accepts;
  }

  get refusals(): InferenceEngine['refusals'] {
    return this.#server.abilities.refusals;
  }

  get policyVersion(): number {
    return this.#weights.version;
  }

  sample(request: SampleRequest): Promise<readonly Completion[]> {
    return this.#open(request.signal, (signal) => this.#sampled(request, signal));
  }

  async #sampled(request: SampleRequest, signal: AbortSignal): Promise<readonly Completion[]> {
    const resolved = resolveSampleRequest(request);
    requireFittingPrompt(this, resolved.prompt);
    this.#requireAble(resolved);
    const maxTokens = Math.min(resolved.maxTokens, this.contextLength - resolved.prompt.length);
    const seed = RandomStream.named('remote sampler', resolved.seed).integer(2 ** 31);
    const wire = { ...resolved, maxTokens, seed };
    const { weights, answer } = await this.#asked('sample', signal, async (weights) => {
      const sequences = await this.#server.generate(wire, weights, signal);
      return checkedSequences(sequences, wire, this.#limits());
    });
    const completions = answer.map((sequence) => this.#completion(sequence, resolved, weights));
    if (request.onToken !== undefined) reportTokens(completions, request.onToken);
    return completions;
  }

  async scoreTokens(
    requests: readonly ScoreRequest[],
    { temperature = 1, signal: given }: ScoreOptions = {},
  ): Promise<readonly TokenScores[]> {
    requireScorable(this, requests, temperature);
    const distributions = this.#entropies === 'exact' || temperature !== 1 ? 'whole' : 'none';
    if (distributions === 'whole' && this.#server.abilities.distributions === 'none') {
      throw new ArgumentError(
        `scoreTokens: ${this.#server.name} gives logprobs at temperature 1 only, got temperature ${temperature}; leave it out`,
      );
    }
    return this.#each(given, requests, async ({ prompt, completion }, signal) => {
      if (completion.length === 0) return { logprobs: new Float32Array(), entropies: new Float32Array() };
      const tokens = [...prompt, ...completion];
      const { answer } = await this.#asked('scoreTokens', signal, async (weights) => {
        const scores = await this.#server.score(tokens, weights, {
          ...{ from: prompt.length, distributions, signal },
        });
        return scoresAt(scores, prompt.length, tokens, { temperature, ...this.#limits() });
      });
      return answer;
    });
  }

  /** Logprobs of the whole vocabulary. They are logits up to a constant per position. */
  async scoreLogits(
    requests: readonly ScoreRequest[],
    { signal: given }: Omit<ScoreOptions, 'temperature'> = {},
  ): Promise<readonly TokenLogits[]> {
    requireScorable(this, requests);
    const { name, abilities } = this.#server;
    if (abilities.distributions === 'none') {
      throw new ArgumentError(`scoreLogits: this ${name} does not give the whole distribution of a token`);
    }
    return this.#each(given, requests, async ({ prompt, completion }, signal) => {
      const tokens = [...prompt, ...completion];
      const options = { from: prompt.length, distributions: 'whole', signal } as const;
      const { answer } = await this.#asked('scoreLogits', signal, async (weights) =>
        logitsAt(await this.#server.score(tokens, weights, options), prompt.length, tokens, this.#limits()),
      );
      return answer;
    });
  }

  /** Takes over new weights, after any earlier call. */
  updateWeights(publication: WeightPublication, given?: AbortSignal): Promise<number> {
    const update = this.#updates.then(() =>
      this.#open(given, (signal) => this.#updated(publication, signal)),
    );
    this.#updates = update.catch(() => undefined);
    return given === undefined ? update : orAborted(update, given);
  }

  async #updated(publication: WeightPublication, signal: AbortSignal): Promise<number> {
    const given = this.#requireForm(publication);
    this.#isLoading = given.kind === 'checkpoint';
    try {
      const old = this.#weights;
      const taken = await this.#server.take(given, old, signal);
      if ((await this.#server.confirm(taken, signal)) === 'lost') {
        throw new SamplerError(
          `updateWeights: ${this.#server.client.place} took version ${publication.version} and does not have it; see the log of the server`,
        );
      }
      this.#weights = taken;
      this.#isSuspect = false;
      this.#releaseUnused(old);
      return taken.version;
    } catch (error) {
      signal.throwIfAborted();
      throw samplerError('updateWeights', error);
    } finally {
      this.#isLoading = false;
    }
  }

  /** Stops requests that wait for an answer. Later calls reject. The server keeps running. */
  async close(): Promise<void> {
    this.#closing.abort(new SamplerError(`${this.#server.name}: the sampler was closed; create another one`));
  }

  /** Repeats a request until it is answered, with the current weights. */
  async #asked<Answer>(
    owner: string,
    signal: AbortSignal,
    ask: (weights: RemoteWeights) => Promise<Answer>,
  ): Promise<{ readonly weights: RemoteWeights; readonly answer: Answer }> {
    try {
      return await this.#server.client.repeated(
        async () => {
          await this.#recovered(signal);
          // The server would hold the request, and answer it with the weights that come.
          while (this.#isLoading) await orAborted(this.#updates, signal);
          const weights = this.#weights;
          this.#use(weights, 1);
          try {
            const how = owner === 'sample' ? 'together' : this.#server.abilities.scoring;
            return { weights, answer: await this.#lock.run(how, signal, () => ask(weights)) };
          } catch (error) {
            if (mayHaveLostWeights(error)) this.#isSuspect = true;
            throw error;
          } finally {
            this.#use(weights, -1);
          }
        },
        signal,
        (error) => (error instanceof RequestError && isWorthAnother(error) ? 0 : undefined),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw samplerError(owner, error);
    }
  }

  /** Loads the weights again if the server was restarted. */
  async #recovered(signal: AbortSignal): Promise<void> {
    if (!this.#isSuspect) return;
    this.#recovery ??= this.#recover().finally(() => {
      this.#recovery = undefined;
    });
    await orAborted(this.#recovery, signal);
  }

  async #recover(): Promise<void> {
    const { signal } = this.#closing;
    const weights = this.#weights;
    if (weights !== this.#initial && (await this.#server.confirm(weights, signal)) === 'lost') {
      this.#weights = await this.#server.take(weights.publication!, this.#initial, signal);
    }
    this.#isSuspect = false;
  }

  #use(weights: RemoteWeights, change: number): void {
    const count = (this.#inUse.get(weights) ?? 0) + change;
    if (count > 0) this.#inUse.set(weights, count);
    else this.#inUse.delete(weights);
    if (count === 0 && weights !== this.#weights) this.#releaseUnused(weights);
  }

  #releaseUnused(weights: RemoteWeights): void {
    if (this.#inUse.has(weights) || weights === this.#initial || weights.model === this.#weights.model)
      return;
    void this.#server.release(weights).catch(() => undefined);
  }

  #completion(
    { tokens: sampled, logprobs, stopReason }: CheckedSequence,
    { prompt, stopTokens, stopStrings }: ResolvedSampleRequest,
    { version }: RemoteWeights,
  ): Completion {
    const text = {
      ...{ tokenizer: this.tokenizer, prompt, stopStrings },
      endTokens: endTokens(this.tokenizer, stopTokens),
    };
    const watch = stopStrings.length === 0 ? undefined : new CompletionText(text);
    const stop = watch ? sampled.findIndex((token) => watch.push(token).state === 'stopped') : -1;
    const tokens = stop < 0 ? sampled : sampled.slice(0, stop + 1);
    return {
      tokens,
      behaviorLogprobs: logprobs.slice(0, tokens.length),
      text: completionText(tokens, text),
      stopReason: stop < 0 ? stopReason : 'stop',
      policyVersion: version,
    };
  }

  /** @throws ArgumentError for a request whose logprobs would not be those of the policy. */
  #requireAble({ temperature, topK, topP, minP, repetitionPenalty }: ResolvedSampleRequest): void {
    const { name, abilities, temperatureRemedy } = this.#server;
    if (abilities.logprobs === 'at the sampling temperature, before filters') return;
    if (abilities.logprobs === 'at temperature 1, before filters') {
      if (temperature === 1 || temperature === 0) return;
      throw new ArgumentError(
        `sample: this ${name} gives logprobs at temperature 1, got temperature ${temperature}; ${temperatureRemedy}`,
      );
    }
    if (topK === 0 && topP === 1 && minP === 0 && repetitionPenalty === 1) return;
    throw new ArgumentError(
      `sample: this ${name} gives logprobs after topK, topP, minP and repetitionPenalty, which a trainer cannot compute; leave them out`,
    );
  }

  #requireForm(publication: WeightPublication): PublicationInFiles {
    const { kind } = publication;
    const { accepts, refusals } = this.#server.abilities;
    if (kind !== 'shared' && accepts.includes(kind)) return publication;
    const remedy = refusals[kind] ?? `publish as ${accepts.join(' or ') || 'something that it takes'}`;
    throw new SamplerError(
      `updateWeights: ${this.#server.name} does not take weights as '${kind}'; ${remedy}`,
    );
  }

  #limits(): { readonly place: string; readonly vocabularySize: number } {
    return { place: this.#server.client.place, vocabularySize: this.vocabularySize };
  }

  /** Runs a call with the signal that ends it: the caller's, or that of closing. */
  async #open<Value>(
    given: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const closing = this.#closing.signal;
    closing.throwIfAborted();
    given?.throwIfAborted();
    return withSignals([given, closing], work);
  }

  #each<Request, Value>(
    given: AbortSignal | undefined,
    requests: readonly Request[],
    work: (request: Request, signal: AbortSignal) => Promise<Value>,
  ): Promise<readonly Value[]> {
    return this.#open(given, (signal) => allWithSignals(requests, [signal], work));
  }
}

function mayHaveLostWeights(error: unknown): boolean {
  return error instanceof RequestError && (error.failure === 'unreachable' || isWorthAnother(error));
}

/** Whether another attempt may succeed: the answer was cut off, or the server was restarted and did not know the model. */
function isWorthAnother({ failure, status }: RequestError): boolean {
  return failure === 'malformed' || status === 404;
}
