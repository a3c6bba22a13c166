import { messageOf, SamplerError, type TokenId } from '@rlp/core';
import type { CachedDecoder, Distribution, NextTokenDistributions, NextTokens } from './cached-decoder.ts';
import {
  type GeneratedGroup,
  type GenerationObserver,
  type Group,
  keepForLateMembers,
  logitsNeed,
  type Member,
  type Row,
} from './groups.ts';
import { type Prefilled, PrefillQueue } from './prefill-queue.ts';
import type { PrefixCache } from './prefix-cache.ts';
import { reportingTemperature, Sequence, type SequenceRequest } from './sequence.ts';

/** Options of a {@link GenerationLoop}. */
export interface GenerationLoopOptions {
  /** Lets messages be handled between two steps. */
  readonly yield: () => Promise<void>;
  /** Maximum prompt tokens computed between two steps, padding included. */
  readonly prefillTokens: number;
  /** Maximum tokens guessed at once for a sequence that runs alone. 0 guesses none. */
  readonly promptLookup: number;
  /** Known beginnings of prompts. Belongs to the loop. */
  readonly prefixes: PrefixCache;
  /** Whether weights have changed since the last call, published or not. */
  readonly weightsChanged: () => boolean;
  readonly policyVersion: number;
}

/** Minimum share of {@link GenerationLoopOptions.prefillTokens} for parts of long prompts between two steps. */
const LEAST_SHARE = 1 / 8;

/**
 * Continuous batching. Every step advances all running sequences by one token. A sequence that ends leaves its row to the next one waiting.
 *
 * Requests are served in order of arrival and members in order of index. Rows in use stay the first ones. When a row becomes free, the last
 * one moves into it, so the cost of a step is that of its running sequences.
 */
export class GenerationLoop {
  readonly #decoder: CachedDecoder;
  readonly #options: GenerationLoopOptions;
  readonly #scratch: Float32Array;
  readonly #waiting: Group[] = [];
  readonly #rows: Row[] = [];
  readonly #prefills: PrefillQueue;
  /** Requests with a member that has had a row or was promised one. */
  readonly #started = new Set<Group>();
  #policyVersion: number;
  /** Number of times that the weights have changed. */
  #weights = 0;
  #running: Promise<void> | undefined;
  /** The latest step or exclusive task. */
  #last: Promise<void> = Promise.resolve();

  constructor(decoder: CachedDecoder, options: GenerationLoopOptions) {
    this.#decoder = decoder;
    this.#options = options;
    this.#prefills = new PrefillQueue(decoder, options.prefixes);
    this.#scratch = new Float32Array(decoder.vocabularySize);
    this.#policyVersion = options.policyVersion;
  }

  /** Sequences that have a row. */
  get running(): number {
    return this.#rows.length;
  }

  /** Sets the version of new weights, which the caller has changed. Prompts that were computed with older weights are no longer shared. */
  setPolicyVersion(version: number): void {
    this.#policyVersion = version;
    this.#forget();
  }

  #forget(): void {
    this.#weights++;
    this.#options.prefixes.clear();
    this.#prefills.restart();
    for (const group of this.#waiting) group.first = undefined;
  }

  /** Queues a request. Rejects with the signal's reason once aborted. */
  submit(request: SequenceRequest, observer: GenerationObserver): Promise<GeneratedGroup> {
    return new Promise((resolve, reject) => {
      if (observer.signal.aborted) return reject(observer.signal.reason);
      const members = Array.from(
        { length: request.count },
        (_, member) => new Sequence(request, member, this.#decoder.contextLength),
      );
      this.#waiting.push({
        request,
        observer,
        members,
        started: 0,
        unfinished: members.length,
        policyVersion: undefined,
        settled: false,
        resolve,
        reject,
      });
      this.#running ??= this.#run();
    });
  }

  /** Ends one completion early and keeps its tokens, because its text met a stop string. */
  finish(observer: GenerationObserver | undefined, member: number): void {
    const row = this.#rows.find(
      ({ group, sequence }) => group.observer === observer && sequence.member === member,
    );
    if (row !== undefined && row.sequence.stopReason === undefined) row.sequence.stopReason = 'stop';
  }

  /** Runs a task between two steps, such as replacing the weights. Nothing is generated meanwhile. */
  exclusively<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.then(
      () => {},
      () => {},
    );
    return result;
  }

  async #run(): Promise<void> {
    try {
      // Lets everything submitted in the same turn join the first prefill.
      await this.#options.yield();
      while (this.#waiting.length + this.#rows.length + this.#prefills.promised > 0) {
        await this.exclusively(() => this.#turn());
        await this.#options.yield();
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #turn(): Promise<void> {
    try {
      this.#dropAborted();
      this.#retire();
      this.#admit();
      if (this.#prefills.promised > 0) await this.#prefill();
      this.#retire();
      if (this.#rows.length > 0) await this.#step();
      this.#retire();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Rejects every request that takes part in the failed computation. Waiting requests continue. */
  #fail(cause: unknown): void {
    const error = new SamplerError(`sample: the engine failed while generating: ${messageOf(cause)}`, {
      cause,
    });
    this.#rows.length = 0;
    this.#prefills.clear();
    for (const group of [...this.#started]) this.#settle(group, () => group.reject(error));
  }

  #dropAborted(): void {
    for (const group of new Set([...this.#waiting, ...this.#started])) {
      const { signal } = group.observer;
      if (signal.aborted) this.#settle(group, () => group.reject(signal.reason));
    }
    this.#prefills.dropSettled();
  }

  #settle(group: Group, how: () => void): void {
    if (group.settled) return;
    group.settled = true;
    group.first = undefined;
    this.#started.delete(group);
    const index = this.#waiting.indexOf(group);
    if (index >= 0) this.#waiting.splice(index, 1);
    how();
  }

  /** Frees the rows of sequences that ended, moving the last row into each gap. */
  #retire(): void {
    for (let index = this.#rows.length - 1; index >= 0; index--) {
      const { group, sequence } = this.#rows[index]!;
      if (!group.settled && sequence.stopReason === undefined) continue;
      this.#keep(index);
      this.#removeRow(index);
      if (!group.settled && --group.unfinished === 0) this.#complete(group);
    }
  }

  /** Keeps a row's keys and values for later prompts, unless older weights computed some of them. */
  #keep(index: number): void {
    const { sequence, weights } = this.#rows[index]!;
    if (weights !== this.#weights) return;
    const tokens = [...sequence.request.prompt, ...sequence.tokens].slice(0, sequence.cachedLength);
    this.#options.prefixes.keepCompletion(index, tokens, sequence.request.prompt.length);
  }

  #removeRow(index: number): void {
    const last = this.#rows.pop()!;
    if (index === this.#rows.length) return;
    this.#decoder.copyRow(this.#rows.length, index, last.sequence.cachedLength);
    this.#rows[index] = last;
  }

  #complete(group: Group): void {
    const sequences = group.members.map(({ tokens, logprobs, stopReason }) => ({
      tokens,
      logprobs,
      stopReason: stopReason!,
    }));
    this.#settle(group, () =>
      group.resolve({ sequences, policyVersion: group.policyVersion ?? this.#policyVersion }),
    );
  }

  /** Promises free rows to waiting members, first come first served. */
  #admit(): void {
    let free = this.#decoder.maxSequences - this.#rows.length - this.#prefills.promised;
    while (free > 0 && this.#waiting.length > 0) {
      const group = this.#waiting[0]!;
      const count = Math.min(free, group.members.length - group.started);
      const members = group.members
        .slice(group.started, group.started + count)
        .map((sequence) => ({ group, sequence }));
      if (!this.#reuse(group, members)) this.#prefills.add(group, members);
      this.#started.add(group);
      group.started += count;
      free -= count;
      if (group.started === group.members.length) this.#waiting.shift();
    }
  }

  /** Starts late members from an earlier member's row, which still holds the prompt. */
  #reuse(group: Group, members: readonly Member[]): boolean {
    const { first } = group;
    if (first === undefined) return false;
    const source = this.#rows.findIndex((row) => row.group === group && row.weights === this.#weights);
    if (source < 0) return false;
    this.#startForks(members, source, first);
    return true;
  }

  /** Computes prompts. Long ones get a larger share, the more sequences wait for their prompts, compared with those that run. */
  async #prefill(): Promise<void> {
    if (this.#options.weightsChanged()) this.#forget();
    const { promised } = this.#prefills;
    const { prefillTokens } = this.#options;
    const share = Math.max(promised / (promised + this.#rows.length), LEAST_SHARE);
    await this.#prefills.compute(
      { together: prefillTokens, parts: share * prefillTokens },
      () => this.#rows.length,
      (prefilled) => this.#startPrefilled(prefilled),
      async () => {
        await this.#options.yield();
        if (this.#options.weightsChanged()) this.#forget();
        this.#dropAborted();
      },
    );
  }

  /** Gives each prompt to its members' rows and draws their first tokens. */
  #startPrefilled({ how, row, prefills, distributions }: Prefilled): void {
    const isApart = row !== this.#rows.length;
    // The first member of each prompt takes the row that was computed, unless that lies apart from the running ones.
    if (!isApart)
      for (const { members } of prefills) this.#rows.push({ ...members[0]!, weights: this.#weights });
    for (const [index, { members, prompt }] of prefills.entries()) {
      const own = row + index;
      if (how === 'parts') this.#options.prefixes.keep(own, prompt);
      this.#options.prefixes.observe(prompt);
      const distribution = this.#distribution(distributions, index);
      if (!isApart) this.#draw(this.#rows[own]!, distribution);
      this.#startForks(isApart ? members : members.slice(1), own, distribution);
      keepForLateMembers(members, distribution);
    }
  }

  /** Gives members the next rows, which begin with the prompt of another row, and draws their first tokens. */
  #startForks(members: readonly Member[], from: number, distribution: Distribution): void {
    const [member] = members;
    if (member === undefined) return;
    const { length } = member.sequence.request.prompt;
    this.#decoder.fork({ from, to: this.#rows.length, count: members.length, length });
    for (const member of members) {
      const row = { ...member, weights: this.#weights };
      this.#rows.push(row);
      this.#draw(row, distribution);
    }
  }

  /** Tokens that a step appends to the rows. */
  get #lastTokens(): NextTokens {
    const sequences = this.#rows.map(({ sequence }) => sequence);
    return {
      tokens: sequences.map(({ lastToken }) => lastToken),
      positions: sequences.map(({ cachedLength }) => cachedLength),
      temperatures: sequences.map(({ request }) => reportingTemperature(request.temperature)),
    };
  }

  async #step(): Promise<void> {
    const guess = this.#rows.length === 1 ? this.#rows[0]!.sequence.guess(this.#options.promptLookup) : [];
    if (guess.length > 0) return this.#check(this.#rows[0]!, guess);
    const uniforms = this.#rows.map(({ sequence }) => sequence.uniform);
    if (this.#decoder.decodeDrawn && uniforms.every((uniform) => uniform !== undefined)) {
      return this.#stepDrawn(uniforms);
    }
    const distributions = await this.#decoder.decode(this.#lastTokens, logitsNeed(this.#rows));
    for (const [index, row] of this.#rows.entries()) {
      if (row.sequence.stopReason !== undefined) continue;
      this.#draw(row, this.#distribution(distributions, index));
    }
  }

  /** A step in which the decoder draws the tokens. */
  async #stepDrawn(uniforms: readonly number[]): Promise<void> {
    const drawn = await this.#decoder.decodeDrawn!(this.#lastTokens, uniforms);
    for (const [index, row] of this.#rows.entries()) {
      if (row.sequence.stopReason !== undefined) continue;
      this.#advance(row, ({ sequence }) => sequence.take(drawn.tokens[index]!, drawn.probabilities[index]!));
    }
  }

  /** Computes a guess at once and draws as long as the draws agree with it. Every draw is that of a single step. */
  async #check(row: Row, guess: readonly TokenId[]): Promise<void> {
    const { sequence } = row;
    const tokens = [sequence.lastToken, ...guess];
    const temperature = reportingTemperature(sequence.request.temperature);
    const distributions = await this.#decoder.extend(
      { row: 0, length: sequence.cachedLength, tokens, temperature, last: tokens.length },
      logitsNeed([row]),
    );
    let right = 0;
    for (let index = 0; index === right && sequence.stopReason === undefined; index++) {
      this.#draw(row, this.#distribution(distributions, index));
      if (!row.group.settled && sequence.lastToken === guess[index]) right++;
    }
    sequence.learn({ guessed: guess.length, right });
  }

  #distribution({ probabilities, logits }: NextTokenDistributions, index: number): Distribution {
    const from = index * this.#decoder.vocabularySize;
    const to = from + this.#decoder.vocabularySize;
    return { probabilities: probabilities.subarray(from, to), logits: logits?.subarray(from, to) };
  }

  /** Draws a row's next token. A distribution that cannot be drawn from rejects only its own request. */
  #draw(row: Row, distribution: Distribution): void {
    this.#advance(row, ({ sequence }) => sequence.advance(distribution, this.#scratch));
  }

  #advance(row: Row, append: (row: Row) => void): void {
    const { group, sequence } = row;
    group.policyVersion ??= this.#policyVersion;
    try {
      append(row);
    } catch (error) {
      this.#settle(group, () => group.reject(error));
      return;
    }
    group.observer.onToken?.({
      member: sequence.member,
      token: sequence.lastToken,
      logprob: sequence.logprobs[sequence.logprobs.length - 1]!,
    });
  }
}
