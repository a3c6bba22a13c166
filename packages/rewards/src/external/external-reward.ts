import { messageOf, orAborted, parseOptions, RandomStream, type RewardFunction } from '@rlp/core';
import {
  Circuit,
  type CircuitState,
  type Endpoint,
  endpointOf,
  failureSentence,
  postJson,
  RequestError,
  type RequestFailureCause,
  repeated,
  requestFailureCauses,
} from '@rlp/http/client';
import { createLRU } from 'lru.min';
import type * as z from 'zod';
import { isJudged } from '../functions/score-trajectories.ts';
import { Batcher } from '../shared/batcher.ts';
import { episodeOf, type ReadEpisode } from '../shared/episode.ts';
import { signalOf } from '../shared/signal-of.ts';
import { type ExternalRewardOptions, externalOptionsSchema } from './options.ts';
import { type WireShape, wireShapes } from './wire-shapes.ts';

/** What users of a reward model can change, and the failures that this mends. */
const words = {
  key: 'token',
  less: 'lower `batchSize`',
  missing: 'check that `url` leads to a reward model',
};
const mendable: readonly RequestFailureCause[] = ['unreachable', 'timed-out', 'status', 'too-long'];

/** What a reward model was asked since its client was made. */
export interface ExternalStatistics {
  /** Episodes asked about. */
  readonly episodes: number;
  /** Of these: answered from the cache. */
  readonly fromCache: number;
  /** Of these: answered with a number. */
  readonly scored: number;
  /** Of these: answered with `null`. */
  readonly unscorable: number;
  /** Of these: without an answer, by cause. */
  readonly failures: Readonly<Record<RequestFailureCause, number>>;
  /** The message of the last failure. */
  readonly lastFailure: string | undefined;
  /** Requests sent, those that were repeated included. */
  readonly requests: number;
  /** Requests that were sent again. */
  readonly retries: number;
  /** Requests under way now, and the most there were. */
  readonly inFlight: number;
  readonly peakInFlight: number;
  readonly circuit: CircuitState;
}

/** A reward model behind HTTP. */
export interface ExternalReward {
  /** Requests under way at once times episodes per request: as many episodes as can be asked about at a time. */
  readonly capacity: number;
  /** Asks about an episode. For `external` of the reward processor. Rejects with an {@link RequestError}. */
  readonly score: (episode: ReadEpisode, context: { readonly signal: AbortSignal }) => Promise<number | null>;
  /** Asks about a trajectory's prompt and last response. For `rewardFunctions`. Rejects as `score` does. */
  readonly reward: RewardFunction<unknown>;
  getStatistics(): ExternalStatistics;
}

/**
 * A reward model behind HTTP as a reward: with a time limit, attempts with jitter, a limit on requests at once, batches, a cache,
 * and a circuit breaker.
 *
 * What goes wrong is that episode's own: it has no reward, never a made-up one. A request with several episodes that is
 * refused (4xx) or answered with something else than one reward each is repeated with one episode at a time, so that only
 * the guilty one is left without. Redirects are not followed.
 *
 * @throws OptionsError naming every problem at once. ArgumentError on a platform without fetch.
 */
export function externalReward(options: ExternalRewardOptions): ExternalReward {
  const client = new RewardModelClient(options);
  return {
    capacity: client.capacity,
    score: (episode, { signal }) => client.ask(episode, signal),
    reward: (trajectory, context) => {
      const signal = signalOf('externalReward', trajectory, context);
      return isJudged(trajectory) ? client.ask(episodeOf(trajectory), signal) : null;
    },
    getStatistics: () => client.getStatistics(),
  };
}

class RewardModelClient {
  readonly capacity: number;
  readonly #options: z.output<typeof externalOptionsSchema>;
  readonly #shape: WireShape;
  readonly #endpoint: Endpoint;
  readonly #circuit: Circuit;
  /** The latest rewards by request, if any are kept. */
  readonly #answers: ReturnType<typeof createLRU<string, { readonly reward: number | null }>> | undefined;
  readonly #batcher: Batcher<ReadEpisode, number | null>;
  readonly #failures = Object.fromEntries(requestFailureCauses.map((cause) => [cause, 0])) as Record<
    RequestFailureCause,
    number
  >;
  readonly #counts = { episodes: 0, fromCache: 0, scored: 0, unscorable: 0, requests: 0, retries: 0 };
  #lastFailure: string | undefined;
  #inFlight = 0;
  #peakInFlight = 0;

  constructor(given: ExternalRewardOptions) {
    const options = parseOptions('externalReward', externalOptionsSchema, given);
    this.#options = options;
    this.capacity = options.concurrency * options.batchSize;
    this.#shape = typeof options.shape === 'string' ? wireShapes[options.shape] : options.shape;
    this.#endpoint = endpointOf('externalReward', options);
    this.#circuit = new Circuit({ ...options.circuit, clock: options.clock });
    this.#answers = options.cacheSize === 0 ? undefined : createLRU({ max: options.cacheSize });
    this.#batcher = new Batcher<ReadEpisode, number | null>({
      batchSize: options.batchSize,
      concurrency: options.concurrency,
      ask: (episodes, signal) => this.#exchange(episodes, signal),
      isOfOne: (error) => error instanceof RequestError && error.isAboutContent,
    });
  }

  getStatistics(): ExternalStatistics {
    return {
      ...this.#counts,
      failures: { ...this.#failures },
      lastFailure: this.#lastFailure,
      inFlight: this.#inFlight,
      peakInFlight: this.#peakInFlight,
      circuit: this.#circuit.state,
    };
  }

  /** The reward of an episode. Rejects with a `RequestError`, or with the signal's reason. */
  async ask(episode: ReadEpisode, signal: AbortSignal): Promise<number | null> {
    signal.throwIfAborted();
    this.#counts.episodes += 1;
    try {
      const key = this.#answers && this.#bodyOf([episode]);
      const known = key === undefined ? undefined : this.#answers?.get(key);
      if (known !== undefined) {
        this.#counts.fromCache += 1;
        return known.reward;
      }
      const answer = await this.#batcher.ask(episode, signal);
      this.#counts[answer === null ? 'unscorable' : 'scored'] += 1;
      if (key !== undefined) this.#answers?.set(key, { reward: answer });
      return answer;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#failures[error.failure] += 1;
      this.#lastFailure = mendable.includes(error.failure) ? failureSentence(error, words) : error.message;
      throw new RequestError(error.failure, this.#lastFailure, error);
    }
  }

  #read(answer: unknown): number | null | RequestError {
    if (answer === null || (typeof answer === 'number' && Number.isFinite(answer))) return answer;
    const { place } = this.#endpoint;
    if (typeof answer === 'number') {
      return new RequestError('not-finite', `${place}: expected a finite reward, got ${answer}`);
    }
    return new RequestError(
      'malformed',
      `${place}: expected a number or null as reward, got ${typeof answer}`,
    );
  }

  /** One answer for each episode. Rejects with a `RequestError`. */
  async #exchange(
    episodes: readonly ReadEpisode[],
    signal: AbortSignal,
  ): Promise<readonly (number | null | RequestError)[]> {
    const { place } = this.#endpoint;
    try {
      const answers = this.#shape.readAnswer(await this.#send(this.#bodyOf(episodes), signal));
      if (answers?.length === episodes.length) return answers.map((answer) => this.#read(answer));
      const came = answers === undefined ? 'another body' : `${answers.length}`;
      const wanted = `${episodes.length} rewards in the shape "${this.#shape.name}"`;
      throw new RequestError('malformed', `${place}: expected ${wanted}, got ${came}`);
    } catch (error) {
      if (error instanceof RequestError) throw error;
      // Either all who asked gave up, so nobody reads this error. Or a custom shape does not know the body.
      const reason = signal.aborted ? 'given up' : messageOf(error);
      throw new RequestError('malformed', `${place}: ${reason}`, { cause: error });
    }
  }

  #send(body: string, signal: AbortSignal): Promise<unknown> {
    const { attempts, backoff, seed } = this.#options;
    const first = this.#counts.requests;
    return repeated(
      (attempt) => {
        if (attempt > 1) this.#counts.retries += 1;
        return this.#attempt(body, signal);
      },
      { attempts, backoff, random: () => RandomStream.named(seed, first), signal },
    );
  }

  async #attempt(body: string, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    if (!(await orAborted(this.#circuit.admit(), signal))) throw this.#refusal();
    this.#counts.requests += 1;
    this.#inFlight += 1;
    this.#peakInFlight = Math.max(this.#peakInFlight, this.#inFlight);
    try {
      const answer = await postJson(this.#endpoint, body, signal);
      this.#circuit.succeed();
      return answer;
    } catch (error) {
      if (!(error instanceof RequestError)) this.#circuit.forget();
      else if (error.isPassing) this.#circuit.fail(error);
      else this.#circuit.succeed();
      throw error;
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** Names what opened the circuit. */
  #refusal(): RequestError {
    const { openedBy } = this.#circuit;
    const { failures } = this.#options.circuit;
    return new RequestError(
      'circuit-open',
      `${openedBy?.message}; not asked again, since ${failures === 1 ? 'the last request' : `the last ${failures} requests`} had no answer`,
      { cause: openedBy },
    );
  }

  #bodyOf(episodes: readonly ReadEpisode[]): string {
    try {
      return JSON.stringify(this.#shape.writeRequest(episodes));
    } catch (error) {
      throw new RequestError('unsendable', `expected an episode that is JSON data: ${messageOf(error)}`);
    }
  }
}
