const slotBits = 15;
const slots = 2 ** slotBits;
/** Tasks that make a generation, and responses that make one however few tasks they are of. */
const generationTasks = 64;
const generationResponses = 256;
/** Tasks that what is usual is counted over: from here on older ones fade. */
const usualTasks = 4096;
/** Nats by which a phrase has to be more frequent than usual, and occurrences that it takes. */
const trendingNats = 5;
const trendingTasks = 3;

/** What a {@link PhraseWindow} remembers, as JSON data: `[slot, count, …]` of what is not 0. */
export interface PhraseState {
  readonly current: readonly number[];
  readonly previous: readonly number[];
  readonly usual: readonly number[];
  readonly tasks: readonly [current: number, previous: number, usual: number];
  readonly responses: number;
}

/**
 * In how many tasks words and phrases (given by hashes) occurred lately, and how many are usual.
 *
 * Lately is the last one to two generations of 64 tasks; what leaves them becomes usual. Responses to one task share its
 * topic, so they count once. Slots are shared by chance, which makes phrases look more usual than they are, never less.
 */
export class PhraseWindow {
  #current = new Uint16Array(slots);
  #previous = new Uint16Array(slots);
  readonly #usual = new Uint16Array(slots);
  /** Which task counted last in a slot. */
  readonly #stamps = new Int32Array(slots);
  #tasks: [number, number, number] = [0, 0, 0];
  #responses = 0;
  #stamp = 0;

  /** Whether what is usual is known. */
  get isReady(): boolean {
    return this.#tasks[2] > 0;
  }

  /** Begins the responses of another task. */
  beginTask(): void {
    if (this.#tasks[0] >= generationTasks || this.#responses >= generationResponses) this.#turn();
    this.#stamp += 1;
    this.#tasks[0] += 1;
  }

  beginResponse(): void {
    this.#responses += 1;
  }

  /** Other tasks of late that it occurred in; counts it for this one. */
  count(hash: number): number {
    const slot = (hash ^ (hash >>> slotBits)) & (slots - 1);
    const lately = this.#current[slot]! + this.#previous[slot]!;
    if (this.#stamps[slot] === this.#stamp) return lately - 1;
    this.#stamps[slot] = this.#stamp;
    this.#current[slot] = this.#current[slot]! + 1;
    return lately;
  }

  /** Whether a phrase that occurred in so many other tasks of late is far more frequent than usual (Poisson deviance). */
  isTrending(hash: number, lately: number): boolean {
    if (lately < trendingTasks || this.#tasks[2] === 0) return false;
    const slot = (hash ^ (hash >>> slotBits)) & (slots - 1);
    const [current, previous, usual] = this.#tasks;
    const expected = ((this.#usual[slot]! + 0.5) * (current + previous)) / (usual + 50);
    if (lately < 2 * expected) return false;
    return lately * Math.log(lately / expected) - lately + expected >= trendingNats;
  }

  /** Whether a word hardly ever occurred in other tasks, lately or usually. */
  isRare(hash: number, lately: number): boolean {
    return lately + this.#usual[(hash ^ (hash >>> slotBits)) & (slots - 1)]! <= 1;
  }

  saveState(): PhraseState {
    return {
      current: sparse(this.#current),
      previous: sparse(this.#previous),
      usual: sparse(this.#usual),
      tasks: [...this.#tasks],
      responses: this.#responses,
    };
  }

  loadState({ current, previous, usual, tasks, responses }: PhraseState): void {
    fill(this.#current, current);
    fill(this.#previous, previous);
    fill(this.#usual, usual);
    this.#tasks = [...tasks];
    this.#responses = responses;
  }

  #turn(): void {
    const [current, previous, usual] = this.#tasks;
    const oldest = this.#previous;
    const isFull = usual + previous > usualTasks;
    for (let slot = 0; slot < slots; slot++) {
      const sum = this.#usual[slot]! + oldest[slot]!;
      this.#usual[slot] = isFull ? sum >>> 1 : sum;
    }
    oldest.fill(0);
    this.#previous = this.#current;
    this.#current = oldest;
    this.#tasks = [0, current, isFull ? (usual + previous) / 2 : usual + previous];
    this.#responses = 0;
  }
}

function sparse(counts: Uint16Array): number[] {
  const pairs: number[] = [];
  for (let slot = 0; slot < counts.length; slot++) if (counts[slot] !== 0) pairs.push(slot, counts[slot]!);
  return pairs;
}

function fill(counts: Uint16Array, pairs: readonly number[]): void {
  counts.fill(0);
  for (let at = 0; at < pairs.length; at += 2) counts[pairs[at]!] = pairs[at + 1]!;
}
