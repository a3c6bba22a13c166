import type { DetectorState } from './state.ts';

/** A group of successive tasks and the slots that they counted. */
export interface Generation {
  tasks: number;
  slots: Int32Array;
  used: number;
  /** Batch in which it ended. */
  batch: number;
}

/** Recent generations, including the current one. */
const generationsKept = 4;
/** Tasks, or responses, after which a generation ends. */
const generationTasks = 16;
const generationResponses = 32;
/** Unit of a task's number in an entry. */
const oneTask = 128;
const lastStamp = 2 ** 16 - oneTask;

/** Counts the tasks with a hash in the last four generations of 16 tasks. A task counts once. */
export class SlidingCounts {
  readonly #bits: number;
  /** Lower seven bits: recent tasks that counted a slot, at most 65. Upper bits: the last such task. */
  readonly #lately: Uint16Array;
  /** Number of the current task, in the upper bits. */
  #taskStamp = 0;
  /** The same, or 0 while the response does not count. */
  #stamp = 0;
  #responses = 0;
  /** The newest one. */
  #current = emptyGeneration();
  /** Newest last. */
  #generations: Generation[] = [this.#current];
  /** Recent tasks, including the current one. */
  tasks = 0;

  /** @param bits - Bits of a slot number. Hashes share slots by chance. */
  constructor(bits: number) {
    this.#bits = bits;
    this.#lately = new Uint16Array(2 ** bits);
  }

  /** Oldest first. */
  get generations(): readonly Generation[] {
    return this.#generations;
  }

  /**
   * Begins a task. Returns the generation that leaves the recent ones, if any.
   *
   * @param kept - Recent generations, at most 4.
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

  /** Begins a response of the task. One that the task got recently does not count. */
  beginResponse(what: 'new' | 'again' = 'new'): void {
    this.#responses += 1;
    // No entry is below 0, so none looks new.
    this.#stamp = what === 'new' ? this.#taskStamp : 0;
  }

  slotOf(hash: number): number {
    return (hash ^ (hash >>> this.#bits)) & (this.#lately.length - 1);
  }

  /** Counts a slot. @returns Other recent tasks that counted it. −1 for a forgotten repeated response. */
  count(slot: number): number {
    const entry = this.#lately[slot]!;
    const lately = entry & (oneTask - 1);
    // 1 if this task has not counted the slot, else 0. Without a branch, because it would be unpredictable.
    const isNew = (entry - this.#stamp) >>> 31;
    this.#lately[slot] = entry + (-isNew & (this.#stamp + lately + 1 - entry));
    const current = this.#current;
    if (current.used === current.slots.length) current.slots = grown(current.slots);
    current.slots[current.used] = slot;
    current.used += isNew;
    return lately - 1 + isNew;
  }

  /** Other recent tasks that counted a slot. */
  others(slot: number): number {
    const entry = this.#lately[slot]!;
    return (entry & (oneTask - 1)) - 1 + ((entry - this.#taskStamp) >>> 31);
  }

  /** Forgets all counts. */
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

  /** Restarts the numbers of tasks. */
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

/** Slots are converted when they are read. */
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
