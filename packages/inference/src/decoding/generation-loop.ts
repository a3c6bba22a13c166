import { SamplerError } from '@rlp/core';
import type { CachedDecoder, NextTokenDistributions } from './cached-decoder.ts';
import {
  type GeneratedGroup,
  type GenerationObserver,
  type Group,
  isShared,
  keepForLateMembers,
  logitsNeed,
  type Row,
  type SharedPrefill,
  share,
} from './groups.ts';
import { reportingTemperature, Sequence, type SequenceRequest } from './sequence.ts';

/** How a loop runs. */
export interface GenerationLoopOptions {
  /** Lets messages in between two steps. */
  readonly yield: () => Promise<void>;
  /** Most prompt tokens, padding included, that one prefill computes. A single longer prompt still runs. */
  readonly prefillTokens: number;
  readonly policyVersion: number;
}

/**
 * Continuous batching. Every step advances all running sequences by one token, and a sequence that ends leaves its row
 * to the next one waiting.
 *
 * Requests are served in order of arrival and members in order of index. Rows in use stay the first ones. When a row
 * frees up, the last one moves into it, so a step costs what its running sequences cost.
 */
export class GenerationLoop {
  readonly #decoder: CachedDecoder;
  readonly #options: GenerationLoopOptions;
  readonly #scratch: Float32Array;
  readonly #waiting: Group[] = [];
  readonly #rows: Row[] = [];
  /** Requests of which a member has had a row. */
  readonly #started = new Set<Group>();
  #policyVersion: number;
  #running: Promise<void> | undefined;
  /** The step or exclusive task that was begun last. */
  #last: Promise<void> = Promise.resolve();

  constructor(decoder: CachedDecoder, options: GenerationLoopOptions) {
    this.#decoder = decoder;
    this.#options = options;
    this.#scratch = new Float32Array(decoder.vocabularySize);
    this.#policyVersion = options.policyVersion;
  }

  /** Sequences that have a row. */
  get running(): number {
    return this.#rows.length;
  }

  /** Takes over new weights, whose change is the caller's business: prompts computed before are not shared any more. */
  setPolicyVersion(version: number): void {
    this.#policyVersion = version;
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

  /** Ends one completion early, keeping its tokens: its text met a stop string. */
  finish(observer: GenerationObserver | undefined, member: number): void {
    const row = this.#rows.find(
      ({ group, sequence }) => group.observer === observer && sequence.member === member,
    );
    if (row !== undefined && row.sequence.stopReason === undefined) row.sequence.stopReason = 'stop';
  }

  /** Runs a task between two steps, such as exchanging the weights: nothing is generated meanwhile. */
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
      while (this.#waiting.length > 0 || this.#rows.length > 0) {
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
      await this.#admit();
      this.#retire();
      if (this.#rows.length > 0) await this.#step();
      this.#retire();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Rejects every request that takes part in the computation that failed. Those still waiting go on. */
  #fail(cause: unknown): void {
    const error = new SamplerError(`sample: the engine failed while generating: ${describe(cause)}`, {
      cause,
    });
    this.#rows.length = 0;
    for (const group of [...this.#started]) this.#settle(group, () => group.reject(error));
  }

  #dropAborted(): void {
    for (const group of new Set([...this.#waiting, ...this.#started])) {
      const { signal } = group.observer;
      if (signal.aborted) this.#settle(group, () => group.reject(signal.reason));
    }
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
      this.#removeRow(index);
      if (!group.settled && --group.unfinished === 0) this.#complete(group);
    }
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

  /** Gives free rows to waiting members, first come first served. */
  async #admit(): Promise<void> {
    const prefills: SharedPrefill[] = [];
    let free = this.#decoder.maxSequences - this.#rows.length;
    while (free > 0 && this.#waiting.length > 0) {
      const group = this.#waiting[0]!;
      if (group.first === undefined && !this.#fits(prefills, group)) break;
      const count = Math.min(free, group.members.length - group.started);
      const rows = group.members
        .slice(group.started, group.started + count)
        .map((sequence) => ({ group, sequence }));
      if (!this.#reuse(group, rows)) share(prefills, group, rows);
      this.#started.add(group);
      group.policyVersion ??= this.#policyVersion;
      group.started += count;
      free -= count;
      if (group.started === group.members.length) this.#waiting.shift();
    }
    if (prefills.length > 0) await this.#prefill(prefills);
  }

  #fits(prefills: readonly SharedPrefill[], { request }: Group): boolean {
    if (prefills.length === 0 || prefills.some((prefill) => isShared(prefill, request))) return true;
    const longest = Math.max(request.prompt.length, ...prefills.map(({ prompt }) => prompt.length));
    return (prefills.length + 1) * longest <= this.#options.prefillTokens;
  }

  /** Starts late members from an earlier member's row, which still holds the prompt. */
  #reuse(group: Group, rows: readonly Row[]): boolean {
    const { first } = group;
    const source = first && this.#rows.findIndex((row) => row.group === group);
    if (first === undefined || source === undefined || source < 0) return false;
    for (const row of rows) {
      this.#decoder.copyRow(source, this.#rows.length, group.request.prompt.length);
      this.#rows.push(row);
      this.#advance(row, first.probabilities, first.logits);
    }
    return true;
  }

  /** Computes each shared prompt once, then copies it to the members' rows and draws their first tokens. */
  async #prefill(prefills: readonly SharedPrefill[]): Promise<void> {
    const firstRow = this.#rows.length;
    // The first member of each prompt comes first, where the prefill writes; the others are copies.
    for (const { rows } of prefills) this.#rows.push(rows[0]!);
    const distributions = await this.#decoder.prefill(
      firstRow,
      prefills.map(({ prompt }) => prompt),
      prefills.map(({ temperature }) => temperature),
      logitsNeed(prefills.flatMap(({ rows }) => rows)),
    );
    for (const [index, { rows, prompt }] of prefills.entries()) {
      for (const row of rows.slice(1)) {
        this.#decoder.copyRow(firstRow + index, this.#rows.length, prompt.length);
        this.#rows.push(row);
      }
      const { probabilities, logits } = this.#distribution(distributions, index);
      for (const row of rows) this.#advance(row, probabilities, logits);
      keepForLateMembers(rows, probabilities, logits);
    }
  }

  async #step(): Promise<void> {
    const distributions = await this.#decoder.decode(
      this.#rows.map(({ sequence }) => sequence.lastToken),
      this.#rows.map(({ sequence }) => sequence.cachedLength),
      this.#rows.map(({ sequence }) => reportingTemperature(sequence.request.temperature)),
      logitsNeed(this.#rows),
    );
    for (const [index, row] of this.#rows.entries()) {
      if (row.sequence.stopReason !== undefined) continue;
      const { probabilities, logits } = this.#distribution(distributions, index);
      this.#advance(row, probabilities, logits);
    }
  }

  #distribution({ probabilities, logits }: NextTokenDistributions, index: number) {
    const from = index * this.#decoder.vocabularySize;
    const to = from + this.#decoder.vocabularySize;
    return { probabilities: probabilities.subarray(from, to), logits: logits?.subarray(from, to) };
  }

  /** Draws a row's next token. A distribution that cannot be drawn from rejects its own request only. */
  #advance({ group, sequence }: Row, probabilities: Float32Array, logits: Float32Array | undefined): void {
    try {
      sequence.advance(probabilities, logits, this.#scratch);
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

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
