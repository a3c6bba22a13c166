import type { DetectorState } from './state.ts';

type State = DetectorState['phrases']['phrases'];

/** Successive tasks and the slots that they counted. `batch` is that in which it ended. */
export type Generation = State['generations'][number];

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
  readonly #state: State;
  /** Lower seven bits: recent tasks that counted a slot, at most 65. Upper bits: the last such task. */
  readonly #lately: Uint16Array;
  /** Number of the current task, in the upper bits. */
  #taskStamp = 0;
  /** The same, or 0 while the response does not count. */
  #stamp = 0;
  #current: Generation;
  /** Recent tasks, including the current one. */
  tasks = 0;

  /** @param bits - Bits of a slot number. Hashes share slots by chance. */
  constructor(bits: number, state: State) {
    this.#bits = bits;
    this.#state = state;
    this.#lately = new Uint16Array(2 ** bits);
    if (state.generations.length === 0) state.generations.push(emptyGeneration());
    this.#current = state.generations.at(-1)!;
    for (const { tasks } of state.generations) this.tasks += tasks;
    this.#recount();
  }

  get hasPast(): boolean {
    return this.#state.generations.length > 1;
  }

  /**
   * Begins a task. Returns the generation that leaves the recent ones, if any.
   *
   * @param kept - Recent generations, at most 4.
   */
  beginTask(batch: number, kept = generationsKept): Generation | undefined {
    const isOver = this.#current.tasks >= generationTasks || this.#state.responses >= generationResponses;
    const oldest = isOver ? this.#turn(batch, kept) : undefined;
    if (this.#taskStamp === lastStamp) this.#recount();
    this.#taskStamp += oneTask;
    this.#stamp = this.#taskStamp;
    this.#current.tasks += 1;
    this.tasks += 1;
    return oldest;
  }

  /** Begins a response of the task. One that the task got recently does not count. */
  beginResponse(what: 'new' | 'again'): void {
    this.#state.responses += 1;
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

  /** Counts the slots of all generations, and restarts the numbers of tasks. */
  #recount(): void {
    this.#taskStamp = 0;
    this.#lately.fill(0);
    for (const { slots, used } of this.#state.generations) {
      for (let at = 0; at < used; at++) this.#lately[slots[at]!]! += 1;
    }
  }

  #turn(batch: number, kept: number): Generation | undefined {
    const { generations } = this.#state;
    this.#state.responses = 0;
    this.#current.batch = batch;
    this.#current = emptyGeneration(Math.ceil(1.25 * this.#current.used));
    generations.push(this.#current);
    if (generations.length <= kept) return undefined;
    const oldest = generations.shift()!;
    for (let at = 0; at < oldest.used; at++) this.#lately[oldest.slots[at]!]! -= 1;
    this.tasks -= oldest.tasks;
    return oldest;
  }
}

function emptyGeneration(room = 256): Generation {
  return { tasks: 0, batch: 0, slots: new Int32Array(room), used: 0 };
}

function grown(slots: Int32Array): Int32Array {
  const larger = new Int32Array(Math.max(64, 2 * slots.length));
  larger.set(slots);
  return larger;
}
