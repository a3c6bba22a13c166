import type { CachedDecoder, NextTokenDistributions } from './cached-decoder.ts';
import { type Group, isShared, logitsNeed, type Member, type SharedPrefill } from './groups.ts';
import type { PrefixCache } from './prefix-cache.ts';
import { reportingTemperature } from './sequence.ts';

/** Tokens of one part of a prompt that is computed alone. */
const PART_TOKENS = 256;

/** Prompts up to this length are computed together. Longer ones gain nothing from it and would be padded. */
const TOGETHER_TOKENS = 64;

/** Prompts that were computed into rows, with the distributions of the tokens that follow. */
export interface Prefilled {
  readonly how: 'together' | 'parts';
  /** The first row. Prompts that were computed together have consecutive rows. */
  readonly row: number;
  readonly prefills: readonly SharedPrefill[];
  readonly distributions: NextTokenDistributions;
}

/** Prompt tokens to compute, padding included. */
export interface PrefillBudget {
  /** Tokens of short prompts that are computed together. */
  readonly together: number;
  /** Tokens of parts that are computed alone. */
  readonly parts: number;
}

/** A prompt whose computation has begun. */
interface Progress {
  readonly prefill: SharedPrefill;
  readonly row: number;
  /** Tokens that the row holds. */
  filled: number;
}

/**
 * Prompts of members that were promised a row, in order of arrival.
 *
 * The parts of a long prompt depend on the prompt and on the known prefixes, and not on what else runs.
 */
export class PrefillQueue {
  readonly #decoder: CachedDecoder;
  readonly #prefixes: PrefixCache;
  readonly #queue: SharedPrefill[] = [];
  /** The first prompt of the queue, if a part of it is computed. */
  #progress: Progress | undefined;

  constructor(decoder: CachedDecoder, prefixes: PrefixCache) {
    this.#decoder = decoder;
    this.#prefixes = prefixes;
  }

  /** Rows that were promised. */
  get promised(): number {
    return this.#queue.reduce((sum, { members }) => sum + members.length, 0);
  }

  /** Adds members to the prefill that they can share, or to a new one. */
  add({ request }: Group, members: readonly Member[]): void {
    const shared = this.#queue.find((prefill) => isShared(prefill, request));
    if (shared !== undefined) shared.members.push(...members);
    else {
      const temperature = reportingTemperature(request.temperature);
      this.#queue.push({ prompt: request.prompt, temperature, members: [...members] });
    }
  }

  /** Drops members of requests that have settled. */
  dropSettled(): void {
    for (let index = this.#queue.length - 1; index >= 0; index--) {
      const { members } = this.#queue[index]!;
      const open = members.filter(({ group }) => !group.settled);
      members.splice(0, members.length, ...open);
      if (open.length === 0) this.#queue.splice(index, 1);
    }
    if (this.#progress?.prefill !== this.#queue[0]) this.#progress = undefined;
  }

  /** Discards computed parts, because the weights have changed. */
  restart(): void {
    this.#progress = undefined;
  }

  clear(): void {
    this.#queue.length = 0;
    this.#progress = undefined;
  }

  /**
   * Computes prompts within a budget, at least one part.
   *
   * @param running - Rows in use. Called before each computation.
   * @param done - Receives prompts that are complete.
   * @param between - Called between two computations. It may drop prompts.
   */
  async compute(
    budget: PrefillBudget,
    running: () => number,
    done: (prefilled: Prefilled) => void,
    between: () => Promise<void>,
  ): Promise<void> {
    for (let spent = 0; this.#queue.length > 0; ) {
      const together = this.#together(budget.together - spent);
      const computed = together.length > 0 ? paddedTokens(together) : this.#nextPart();
      const limit = together.length > 0 ? budget.together : budget.parts;
      if (spent > 0 && spent + computed > limit) return;
      const prefilled =
        together.length > 0
          ? await this.#computeTogether(running(), together)
          : await this.#computePart(running());
      spent += computed;
      if (prefilled !== undefined) {
        this.#queue.splice(0, prefilled.prefills.length);
        done(prefilled);
      }
      if (this.#queue.length > 0) await between();
    }
  }

  /** The first prompts of the queue that are short and have no known prefix. */
  #together(budget: number): SharedPrefill[] {
    const together: SharedPrefill[] = [];
    if (this.#progress !== undefined) return together;
    for (const prefill of this.#queue) {
      if (prefill.prompt.length > TOGETHER_TOKENS || this.#prefixes.known(prefill.prompt) > 0) break;
      if (together.length > 0 && paddedTokens([...together, prefill]) > budget) break;
      together.push(prefill);
    }
    return together;
  }

  async #computeTogether(row: number, prefills: readonly SharedPrefill[]): Promise<Prefilled> {
    const distributions = await this.#decoder.prefill(
      row,
      prefills.map(({ prompt }) => prompt),
      prefills.map(({ temperature }) => temperature),
      logitsNeed(prefills.flatMap(({ members }) => members)),
    );
    return { how: 'together', row, prefills, distributions };
  }

  /** Tokens of the next part of the first prompt. */
  #nextPart(): number {
    const { prompt } = this.#queue[0]!;
    const filled = this.#progress?.filled ?? this.#prefixes.known(prompt);
    return Math.min(PART_TOKENS, prompt.length - filled);
  }

  async #computePart(running: number): Promise<Prefilled | undefined> {
    this.#progress ??= this.#begin(running);
    const { prefill, row, filled } = this.#progress;
    const { prompt, temperature, members } = prefill;
    const part = prompt.slice(filled, filled + PART_TOKENS);
    const distributions = await this.#decoder.extend(
      { row, length: filled, tokens: part, temperature, last: 1 },
      logitsNeed(members),
    );
    this.#progress.filled += part.length;
    if (this.#progress.filled < prompt.length) return undefined;
    this.#progress = undefined;
    return { how: 'parts', row, prefills: [prefill], distributions };
  }

  /** Running rows may move while a prompt is computed in parts. So the prompt waits in the last row, which was promised to it. */
  #begin(running: number): Progress {
    const prefill = this.#queue[0]!;
    const alone = prefill.prompt.length - this.#prefixes.known(prefill.prompt) <= PART_TOKENS;
    const row = alone ? running : this.#decoder.maxSequences - 1;
    return { prefill, row, filled: this.#prefixes.restore(row, prefill.prompt) };
  }
}

function paddedTokens(prefills: readonly SharedPrefill[]): number {
  return prefills.length * prefills.reduce((longest, { prompt }) => Math.max(longest, prompt.length), 0);
}
