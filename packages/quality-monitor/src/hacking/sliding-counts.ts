import type { DetectorState } from './state.ts';

/** A generation of tasks: how many, and the slots that they counted in, one entry for each count. */
export interface Generation {
  tasks: number;
  slots: Int32Array;
  used: number;
  /** Number of the batch that it ended in. */
  batch: number;
}

/** Generations that "lately" is made of, the one that fills among them. */
const generationsKept = 4;
/** Tasks that make a generation, and responses that make one however few tasks they are of. */
const generationTasks = 16;
const generationResponses = 32;
/** Where a task's number begins in an entry. */
const oneTask = 128;
const lastStamp = 2 ** 16 - oneTask;

/** In how many tasks of late hashes occurred: those of the last four generations of 16 tasks. Responses to one task count once. */
export class SlidingCounts {
  readonly #bits: number;
  /** In the lower seven bits how many tasks of late counted in a slot, 65 at most; above, which one was the last. */
  readonly #lately: Uint16Array;
  /** Number of the task that goes on, in the upper bits. */
  #taskStamp = 0;
  /** The same, or 0 while a response counts nothing. */
  #stamp = 0;
  #responses = 0;
  /** The newest one. */
  #current = emptyGeneration();
  /** Newest last. */
  #generations: Generation[] = [this.#current];
  /** Tasks of late, the one that goes on among them. */
  tasks = 0;

  /** @param bits - Of a slot's number. Slots are shared by chance. */
  constructor(bits: number) {
    this.#bits = bits;
    this.#lately = new Uint16Array(2 ** bits);
  }

  /** Oldest first, the one that fills last. */
  get generations(): readonly Generation[] {
    return this.#generations;
  }

  /**
   * Begins another task; returns the generation that is no longer lately, if that ends one.
   *
   * @param kept - Generations that are lately, 4 at most.
   */
  beginTask(batch: number, kept = generationsKept): Generation | undefined {
    const isOver = this.#current.tasks >= generationTasks || this.#responses >= generationResponses;
    const oldest = isOver ? this.#turn(batch, kept) : undefined;
    if (this.#taskStamp === lastStamp) this.#forgetStamps();
    this.#taskStamp += oneTask;
    this.#stamp = this.#taskStamp;
    this.#current.tasks += 1;
    this.tasks += 1;
    return oldest;
  }

  /** Begins another response of the task; one that it was given lately counts nothing again. */
  beginResponse(what: 'new' | 'again' = 'new'): void {
    this.#responses += 1;
    // No entry is below 0: none looks new.
    this.#stamp = what === 'new' ? this.#taskStamp : 0;
  }

  slotOf(hash: number): number {
    return (hash ^ (hash >>> this.#bits)) & (this.#lately.length - 1);
  }

  /** Other tasks of late that counted in a slot; counts this one. −1 where a response that is given again is not known any more. */
  count(slot: number): number {
    const entry = this.#lately[slot]!;
    const lately = entry & (oneTask - 1);
    // 1 for a slot that this task has not counted in yet, else 0: computed, as no processor can predict it.
    const isNew = (entry - this.#stamp) >>> 31;
    this.#lately[slot] = entry + (-isNew & (this.#stamp + lately + 1 - entry));
    const current = this.#current;
    if (current.used === current.slots.length) current.slots = grown(current.slots);
    current.slots[current.used] = slot;
    current.used += isNew;
    return lately - 1 + isNew;
  }

  /** Other tasks of late that counted in a slot. */
  others(slot: number): number {
    const entry = this.#lately[slot]!;
    return (entry & (oneTask - 1)) - 1 + ((entry - this.#taskStamp) >>> 31);
  }

  /** Forgets all that counted. */
  clear(): void {
    this.loadState({ responses: 0, generations: [] });
  }

  saveState(): { readonly responses: number; readonly generations: readonly SavedGeneration[] } {
    return { responses: this.#responses, generations: this.#generations.map(savedGeneration) };
  }

  loadState({ responses, generations }: ReturnType<SlidingCounts['saveState']>): void {
    this.#responses = responses;
    this.#generations = generations.map(restoredGeneration);
    if (generations.length === 0) this.#generations.push(emptyGeneration());
    this.#current = this.#generations.at(-1)!;
    this.#lately.fill(0);
    this.tasks = 0;
    for (const { tasks, slots } of generations) {
      this.tasks += tasks;
      for (const slot of slots) this.#lately[slot]! += 1;
    }
  }

  /** Numbers of tasks begin again: none that counts may look like one that counted. */
  #forgetStamps(): void {
    // Two at a time.
    const pairs = new Uint32Array(this.#lately.buffer);
    for (let at = 0; at < pairs.length; at++) pairs[at]! &= ((oneTask - 1) << 16) | (oneTask - 1);
    this.#taskStamp = 0;
  }

  #turn(batch: number, kept: number): Generation | undefined {
    this.#responses = 0;
    this.#current.batch = batch;
    this.#current = emptyGeneration(Math.ceil(1.25 * this.#current.used));
    this.#generations.push(this.#current);
    if (this.#generations.length <= kept) return undefined;
    const oldest = this.#generations.shift()!;
    const [lately, { slots, used }] = [this.#lately, oldest];
    for (let at = 0; at < used; at++) lately[slots[at]!]! -= 1;
    this.tasks -= oldest.tasks;
    return oldest;
  }
}

type SavedGeneration = DetectorState['phrases']['waiting'][number];

/** Slots that have counted stay as they are: they are written when they are read. */
export function savedGeneration({ tasks, batch, slots, used }: Generation): SavedGeneration {
  return {
    tasks,
    batch,
    get slots() {
      return [...slots.subarray(0, used)];
    },
  };
}

export function restoredGeneration({ tasks, batch, slots }: SavedGeneration): Generation {
  return { tasks, batch, slots: Int32Array.from(slots), used: slots.length };
}

function emptyGeneration(room = 256): Generation {
  return { tasks: 0, batch: 0, slots: new Int32Array(room), used: 0 };
}

function grown(slots: Int32Array): Int32Array {
  const larger = new Int32Array(Math.max(64, 2 * slots.length));
  larger.set(slots);
  return larger;
}
