const slotBits = 15;
const slots = 2 ** slotBits;
/** Generations that "lately" is made of, the one that fills among them. */
const generations = 4;
/** Tasks that make a generation, and responses that make one however few tasks they are of. */
const generationTasks = 16;
const generationResponses = 32;
/** Tasks from which on what is usual is known, and at which older ones begin to fade. */
const leastUsual = 24;
const mostUsual = 4096;
/** Nats of surprise that chance has, and that one phrase can have; tasks that it takes; occurrences of what is new. */
const chanceNats = 5;
const mostNats = 30;
const trendingTasks = 3;
const leastExpected = 0.2;

/** What a {@link PhraseWindow} remembers, as JSON data: counts as `[slot, count, …]` of what is not 0. */
export interface PhraseState {
  /** Newest first. */
  readonly lately: readonly { readonly tasks: number; readonly counts: readonly number[] }[];
  readonly usual: readonly number[];
  readonly usualTasks: number;
  readonly responses: number;
}

/**
 * In how many tasks words and phrases (given by hashes) occurred lately, and how many are usual.
 *
 * Lately is the last four generations of 16 tasks; what leaves them becomes usual. Responses to one task share its topic, so
 * they count once. Slots are shared by chance, which makes phrases look more usual than they are, never less.
 */
export class PhraseWindow {
  /** Newest first. */
  #generations: { tasks: number; readonly counts: Uint16Array }[] = Array.from(
    { length: generations },
    () => ({
      tasks: 0,
      counts: new Uint16Array(slots),
    }),
  );
  /** Sums of the generations. */
  readonly #lately = new Uint16Array(slots);
  readonly #usual = new Uint16Array(slots);
  #latelyTasks = 0;
  #usualTasks = 0;
  /** Which task counted last in a slot. */
  readonly #stamps = new Int32Array(slots);
  #stamp = 0;
  #responses = 0;

  /** Whether lately is full and what is usual is known. */
  get isReady(): boolean {
    return this.#usualTasks >= leastUsual;
  }

  /** Begins the responses of another task. */
  beginTask(): void {
    if (this.#generations[0]!.tasks >= generationTasks || this.#responses >= generationResponses)
      this.#turn();
    this.#stamp += 1;
    this.#generations[0]!.tasks += 1;
    this.#latelyTasks += 1;
  }

  beginResponse(): void {
    this.#responses += 1;
  }

  /** Other tasks of late that it occurred in; counts it for this one. */
  count(hash: number): number {
    const slot = (hash ^ (hash >>> slotBits)) & (slots - 1);
    const lately = this.#lately[slot]!;
    if (this.#stamps[slot] === this.#stamp) return lately - 1;
    this.#stamps[slot] = this.#stamp;
    this.#lately[slot] = lately + 1;
    this.#generations[0]!.counts[slot]! += 1;
    return lately;
  }

  /**
   * How surprising it is that a phrase occurred in so many other tasks of late: the Poisson deviance in nats, less those that
   * chance has among many phrases; 0 for most of them.
   */
  surprise(hash: number, lately: number): number {
    if (lately < trendingTasks || !this.isReady) return 0;
    const slot = (hash ^ (hash >>> slotBits)) & (slots - 1);
    const usual = ((this.#usual[slot]! + 0.5) * this.#latelyTasks) / (this.#usualTasks + 50);
    const expected = Math.max(leastExpected, usual);
    if (lately < 2 * expected) return 0;
    const deviance = lately * Math.log(lately / expected) - lately + expected;
    return Math.min(mostNats, Math.max(0, deviance - chanceNats));
  }

  saveState(): PhraseState {
    return {
      lately: this.#generations.map(({ tasks, counts }) => ({ tasks, counts: sparse(counts) })),
      usual: sparse(this.#usual),
      usualTasks: this.#usualTasks,
      responses: this.#responses,
    };
  }

  loadState({ lately, usual, usualTasks, responses }: PhraseState): void {
    this.#generations = lately.map(({ tasks, counts }) => ({ tasks, counts: filled(counts) }));
    this.#lately.fill(0);
    for (const { counts } of this.#generations) {
      for (let slot = 0; slot < slots; slot++) this.#lately[slot]! += counts[slot]!;
    }
    this.#latelyTasks = lately.reduce((sum, { tasks }) => sum + tasks, 0);
    this.#usual.set(filled(usual));
    this.#usualTasks = usualTasks;
    this.#responses = responses;
  }

  #turn(): void {
    const { tasks, counts } = this.#generations.pop()!;
    const isFull = this.#usualTasks + tasks > mostUsual;
    for (let slot = 0; slot < slots; slot++) {
      const count = counts[slot]!;
      if (count > 0) {
        this.#lately[slot]! -= count;
        this.#usual[slot]! += count;
      }
      if (isFull) this.#usual[slot]! >>>= 1;
    }
    counts.fill(0);
    this.#latelyTasks -= tasks;
    this.#usualTasks = isFull ? (this.#usualTasks + tasks) / 2 : this.#usualTasks + tasks;
    this.#generations.unshift({ tasks: 0, counts });
    this.#responses = 0;
  }
}

function sparse(counts: Uint16Array): number[] {
  const pairs: number[] = [];
  for (let slot = 0; slot < slots; slot++) if (counts[slot] !== 0) pairs.push(slot, counts[slot]!);
  return pairs;
}

function filled(pairs: readonly number[]): Uint16Array {
  const counts = new Uint16Array(slots);
  for (let at = 0; at < pairs.length; at += 2) counts[pairs[at]!] = pairs[at + 1]!;
  return counts;
}
