import {
  ArgumentError,
  type Completion,
  callback,
  type InferenceEngine,
  messageOf,
  OptionsError,
  type PublicationForm,
  parseOptions,
  pause,
  requireArguments,
  type SampleRequest,
  type Sampler,
  SamplerError,
  type ScoreRequest,
  type SharedWeights,
  type TokenScorer,
  type TokenScores,
  type WeightPublication,
} from '@rlp/core';
import * as z from 'zod';
import type { ScoreOptions } from '../backend.ts';
import { reportTokens } from '../requests.ts';
import { type FleetEngine, FleetMember, type FleetStatus } from './member.ts';
import { syncWeightsToEngines } from './sync-weights.ts';
import { ProbedWeights, type WeightProbe } from './weight-probe.ts';

const schema = z.strictObject({
  /** Maximum number of engines that get one request, one after the other. Default 8. */
  attempts: z.int().positive().default(8),
  /** How long an engine that failed gets no requests. */
  rest: z
    .strictObject({
      /** Milliseconds after the first failure. Doubles with each further failure. Default 500. */
      firstMs: z.number().nonnegative().default(500),
      /** Maximum rest, in milliseconds. Default 30000. */
      longestMs: z.number().positive().default(30_000),
    })
    .prefault({}),
  /** Maximum time that a request waits for an engine if none serves, in milliseconds. Default 600000. */
  patienceMs: z.number().nonnegative().default(600_000),
  /** Maximum time for an engine to take over new weights, in milliseconds. Default 600000. */
  updateTimeoutMs: z.number().positive().default(600_000),
  /** Names the requests that should go to the same engine, for its prefix cache. Default: the first 64 tokens of the prompt. */
  affinity: callback<(request: SampleRequest) => string>().optional(),
  /** Maximum requests that the engine of a name may have above the least loaded one. Default 4. */
  affinitySlack: z.int().nonnegative().default(4),
  /** A fixed text whose logprobs must move as the trainer's did. Default: no probe. */
  probe: z
    .custom<WeightProbe>(
      (value) => typeof (value as { trainer?: unknown } | null)?.trainer === 'function',
      'must have a request and a function trainer',
    )
    .optional(),
  /** Clock in milliseconds. Default `performance.now`. */
  clock: callback<() => number>().optional(),
});

/** Options of {@link engineFleet}. */
export interface EngineFleetOptions extends z.input<typeof schema> {}

/** Several engines that sample as one. */
export interface EngineFleet extends Sampler, TokenScorer, InferenceEngine {
  /** State of each engine. */
  status(): readonly FleetStatus[];
}

/** Number of names that are remembered with their engines. */
const mostNames = 4096;

/**
 * Samples on several engines. A request goes to the least loaded one, or to the one that had its prefix before. If an engine fails, its
 * requests go to others. It is tried again after a rest.
 *
 * All engines take over weights at once. An engine that reports another version or fails the probe gets no requests until it has them.
 *
 * @throws OptionsError naming every problem at once. ArgumentError for no engines, or engines of different models.
 */
export function engineFleet(engines: readonly FleetEngine[], options: EngineFleetOptions = {}): EngineFleet {
  requireArguments('engineFleet', { engines: 'list' }, engines);
  const resolved = parseOptions('engineFleet', schema, options);
  if (engines.length === 0) throw new ArgumentError('engineFleet: expected at least one engine, got none');
  const sizes = new Set(engines.flatMap(({ vocabularySize }) => vocabularySize ?? []));
  if (sizes.size > 1) {
    throw new ArgumentError(
      `engineFleet: the engines know ${[...sizes].join(' and ')} tokens; give engines of one model`,
    );
  }
  return new Fleet(engines, resolved);
}

/** Engines that a request may go to, and the signal that ends it. */
interface Choice {
  readonly signal: AbortSignal | undefined;
  /** Requests of one name meet the same engine. */
  readonly name?: string;
  readonly can?: (engine: FleetEngine) => boolean;
}

function isScorer(engine: FleetEngine): engine is FleetEngine & TokenScorer {
  return engine.scoreTokens !== undefined;
}

class Fleet implements EngineFleet {
  readonly #members: readonly FleetMember[];
  readonly #options: z.output<typeof schema>;
  readonly #clock: () => number;
  readonly #probed: ProbedWeights | undefined;
  readonly #homes = new Map<string, FleetMember>();
  #version: number;
  #publication: WeightPublication | undefined;

  constructor(engines: readonly FleetEngine[], options: z.output<typeof schema>) {
    this.#members = engines.map((engine) => new FleetMember(engine));
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#probed = options.probe && new ProbedWeights(options.probe);
    this.#version = Math.max(...engines.map(({ policyVersion }) => policyVersion));
  }

  get accepts(): readonly PublicationForm[] {
    const [first, ...others] = this.#members.map(({ engine }) => engine.accepts);
    return first!.filter((form) => others.every((accepts) => accepts.includes(form)));
  }

  get refusals(): InferenceEngine['refusals'] {
    return Object.assign({}, ...this.#members.map(({ engine }) => engine.refusals));
  }

  get shares(): SharedWeights | undefined {
    return this.#members[0]!.engine.shares;
  }

  get vocabularySize(): number | undefined {
    return this.#members.find(({ engine }) => engine.vocabularySize !== undefined)?.engine.vocabularySize;
  }

  get policyVersion(): number {
    return this.#version;
  }

  status(): readonly FleetStatus[] {
    return this.#members.map(({ status }) => status);
  }

  async sample(request: SampleRequest): Promise<readonly Completion[]> {
    const { onToken, ...quiet } = request;
    const name = this.#options.affinity?.(request) ?? request.prompt.slice(0, 64).join();
    const completions = await this.#onSome('sample', { signal: request.signal, name }, (engine) =>
      engine.sample(quiet),
    );
    // Only now: tokens of an engine that failed are none of the answer.
    if (onToken !== undefined) reportTokens(completions, onToken);
    return completions;
  }

  scoreTokens(
    requests: readonly ScoreRequest[],
    options: ScoreOptions = {},
  ): Promise<readonly TokenScores[]> {
    if (!this.#members.some(({ engine }) => isScorer(engine))) {
      return Promise.reject(
        new ArgumentError('scoreTokens: no engine of the fleet scores tokens; add one that does'),
      );
    }
    const choice = { signal: options.signal, can: isScorer };
    return this.#onSome('scoreTokens', choice, (engine) =>
      (engine as TokenScorer).scoreTokens(requests, options),
    );
  }

  async updateWeights(publication: WeightPublication, signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    await this.#probed?.published(signal);
    const { updateTimeoutMs: timeoutMs } = this.#options;
    const engines = this.#members.map(({ engine }) => engine);
    const results = await syncWeightsToEngines(engines, publication, { timeoutMs, signal });
    signal?.throwIfAborted();
    const errors = await Promise.all(
      results.map(async (result, index) =>
        result.status === 'failed' ? result.error : this.#probe(engines[index]!, signal),
      ),
    );
    if (errors.every((error) => error !== undefined)) {
      const reasons = errors.map((error, index) => `\n  - engine ${index}: ${messageOf(error)}`).join('');
      throw new SamplerError(`updateWeights: no engine took version ${publication.version}${reasons}`);
    }
    this.#version = publication.version;
    this.#publication = publication;
    for (const [index, member] of this.#members.entries()) {
      if (errors[index] === undefined) member.recover();
      else member.fail(errors[index], this.#clock(), this.#options.rest);
    }
    return publication.version;
  }

  /** Error of an engine whose logprobs are not the trainer's. */
  async #probe(engine: FleetEngine, signal?: AbortSignal): Promise<unknown> {
    if (this.#probed === undefined || !isScorer(engine)) return undefined;
    try {
      await this.#probed.check(engine, signal);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Tries engines one after another until one succeeds. */
  async #onSome<Result>(
    owner: string,
    choice: Choice,
    work: (engine: FleetEngine) => Promise<Result>,
  ): Promise<Result> {
    const { signal } = choice;
    const failures: string[] = [];
    const tried = new Set<FleetMember>();
    for (let attempt = 0; attempt < this.#options.attempts; attempt++) {
      const member = await this.#chosen(owner, choice, { tried, failures });
      try {
        const result = await work(member.engine);
        member.failures = 0;
        return result;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof ArgumentError || error instanceof OptionsError) throw error;
        member.fail(error, this.#clock(), this.#options.rest);
        tried.add(member);
        failures.push(`engine ${this.#members.indexOf(member)}: ${messageOf(error)}`);
      } finally {
        member.load -= 1;
      }
    }
    const counts = `attempts: ${failures.length}, engines: ${tried.size}`;
    throw this.#given(owner, `every attempt failed (${counts})`, failures);
  }

  #given(owner: string, what: string, failures: readonly string[]): SamplerError {
    const last = failures.slice(-4).map((failure) => `\n  - ${failure}`);
    return new SamplerError(`${owner}: ${what}; see the logs of the servers${last.join('')}`);
  }

  /**
   * The engine for a request, whose load it counts for from now on. Waits until one serves. Engines that have not failed at this request
   * come first.
   */
  async #chosen(
    owner: string,
    choice: Choice,
    { tried, failures }: { readonly tried: ReadonlySet<FleetMember>; readonly failures: readonly string[] },
  ): Promise<FleetMember> {
    const { signal } = choice;
    const end = this.#clock() + this.#options.patienceMs;
    for (;;) {
      signal?.throwIfAborted();
      this.#revive();
      const chosen = this.#leastLoaded(choice, tried);
      if (chosen !== undefined) {
        // At once: the next request must see it.
        chosen.load += 1;
        return chosen;
      }
      if (this.#clock() >= end) {
        const reasons = this.#members.map(
          ({ reason }, index) => `engine ${index}: ${reason ?? 'has old weights'}`,
        );
        throw this.#given(owner, 'no engine serves', failures.length > 0 ? failures : reasons);
      }
      await pause(Math.min(50, this.#options.rest.firstMs + 1), signal);
    }
  }

  #serves({ isServing, engine }: FleetMember): boolean {
    return isServing && engine.policyVersion === this.#version;
  }

  #leastLoaded({ name, can }: Choice, tried: ReadonlySet<FleetMember>): FleetMember | undefined {
    let least: FleetMember | undefined;
    // One pass without lists: a fleet of a thousand engines is looked through for each request.
    for (const member of this.#members) {
      if (!this.#serves(member) || can?.(member.engine) === false) continue;
      const isOther = least !== undefined && tried.has(member) !== tried.has(least);
      if (least === undefined || (isOther ? tried.has(least) : member.load < least.load)) least = member;
    }
    if (least === undefined || name === undefined) return least;
    const home = this.#homes.get(name);
    const stays =
      home !== undefined &&
      this.#serves(home) &&
      tried.has(home) === tried.has(least) &&
      home.load <= least.load + this.#options.affinitySlack;
    const chosen = stays ? home : least;
    this.#homes.delete(name);
    this.#homes.set(name, chosen);
    if (this.#homes.size > mostNames) this.#homes.delete(this.#homes.keys().next().value!);
    return chosen;
  }

  /** Tries rested engines again, after they got the current weights. */
  #revive(): void {
    const now = this.#clock();
    for (const member of this.#members) {
      const behind = member.engine.policyVersion !== this.#version;
      const rested = member.restsUntil !== undefined && member.restsUntil <= now;
      if (member.revival !== undefined || !(rested || (member.isServing && behind))) continue;
      member.revival = this.#revived(member).finally(() => {
        member.revival = undefined;
      });
    }
  }

  async #revived(member: FleetMember): Promise<void> {
    const { engine } = member;
    const publication = this.#publication;
    const { updateTimeoutMs: timeoutMs } = this.#options;
    let error: unknown;
    // Always: an engine that was restarted may report a version that it no longer has.
    if (publication !== undefined) {
      const [result] = await syncWeightsToEngines([engine], publication, { timeoutMs });
      if (result!.status === 'failed') error = result!.error;
    } else if (engine.policyVersion !== this.#version) {
      error = new SamplerError(`it has weights of version ${engine.policyVersion}, not ${this.#version}`);
    }
    error ??= await this.#probe(engine);
    if (error === undefined) member.restsUntil = undefined;
    else member.fail(error, this.#clock(), this.#options.rest);
  }
}
