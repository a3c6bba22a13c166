import type { Tasks } from './batch-facts.ts';
import type { ScaleState, WaitingBatch } from './state.ts';
import { slotCount } from './text-measures.ts';

/** Recent tasks that are compared, at least, where there are so many. */
const recentTasks = 64;
/** Least usual tasks to compare with, and most. */
const [leastUsual, mostUsual] = [24, 4096];
const comparedUsual = 600;
/** Tasks that share a text beyond which more mean nothing: a frequent text has more of them in some batches than in others. */
const manyTasks = 3;
/** Nats attributed to chance, most nats of one phrase, and least recent tasks with it. */
const [chanceNats, mostNats, leastTasks] = [4.5, 30, 3];

/**
 * Counts the rewarded tasks in which sequences of characters occurred recently.
 *
 * A sequence is known by its slot in a table. Slots are shared by chance, which makes phrases look more usual than they are.
 */
export class RecentPhrases {
  /** Recent tasks with each slot. Shape: `[slotCount]`. */
  readonly counts = new Uint16Array(slotCount);
  #tasks = 0;
  /** The batches counted. */
  #batches: readonly WaitingBatch[] = [];
  /** Tasks with each text. */
  #tasksOf = new Map<number, Set<number>>();
  readonly #seenIn = new Uint32Array(slotCount);
  #task = 0;

  /** Counts the newest batches, as many as have 64 tasks. */
  update(batches: readonly WaitingBatch[]): void {
    let [first, tasks] = [batches.length, 0];
    while (first > 0 && tasks < recentTasks) tasks += batches[--first]!.tasks;
    const wanted = batches.slice(first);
    for (const batch of this.#batches) if (!wanted.includes(batch)) this.#count(batch, -1);
    for (const batch of wanted) if (!this.#batches.includes(batch)) this.#count(batch, 1);
    this.#batches = wanted;
    this.#tasks = tasks;
    this.#tasksOf = tasksByText(wanted);
  }

  /**
   * Gathers a batch's phrases, each once for a task with rewarded responses, and counts those tasks.
   *
   * @param phrases - Phrases of each response.
   */
  gather(
    tasks: Tasks,
    weights: Float32Array,
    phrases: readonly Uint16Array[],
  ): Pick<WaitingBatch, 'slots' | 'tasks'> {
    const slots = new Uint16Array(phrases.reduce((sum, one) => sum + one.length, 0));
    const seen = this.#seenIn;
    let [used, rewardedTasks] = [0, 0];
    for (const [, members] of tasks) {
      const rewarded = members.filter((at) => weights[at]! > 0);
      this.#task += 1;
      rewardedTasks += Math.min(1, rewarded.length);
      for (const own of rewarded.map((at) => phrases[at]!)) {
        for (let at = 0; at < own.length; at++) {
          const slot = own[at]!;
          if (seen[slot] === this.#task) continue;
          seen[slot] = this.#task;
          slots[used++] = slot;
        }
      }
    }
    return { slots: slots.slice(0, used), tasks: rewardedTasks };
  }

  /**
   * Nats of surprise at each recent phrase, in units of 1/4. `undefined` if too few usual tasks are known.
   *
   * This is the log-likelihood ratio of two rates, recent and usual, against one rate, minus the nats of chance.
   */
  surprises({ phrases, tasks: usualTasks }: Pick<ScaleState, 'phrases' | 'tasks'>): Uint8Array | undefined {
    if (usualTasks < leastUsual || this.#tasks < leastTasks) return undefined;
    const { counts } = this;
    const tasks = this.#tasks;
    const compared = Math.min(comparedUsual, usualTasks);
    const surprises = new Uint8Array(slotCount);
    for (let slot = 0; slot < slotCount; slot++) {
      const lately = counts[slot]!;
      if (lately < leastTasks) continue;
      const usual = (phrases[slot]! * compared) / usualTasks;
      const rate = (lately + usual) / (tasks + compared);
      if (lately < 2 * rate * tasks) continue;
      const nats =
        lately * Math.log(lately / (tasks * rate)) +
        (usual === 0 ? 0 : usual * Math.log(usual / (compared * rate)));
      surprises[slot] = 4 * Math.min(mostNats, Math.max(0, nats - chanceNats));
    }
    return surprises;
  }

  /** Other recent tasks with the same text. */
  tasksWith(text: number, task: number): number {
    const tasks = this.#tasksOf.get(text);
    return tasks === undefined ? 0 : Math.min(manyTasks, tasks.size - Number(tasks.has(task)));
  }

  #count({ slots }: WaitingBatch, sign: 1 | -1): void {
    for (let at = 0; at < slots.length; at++) this.counts[slots[at]!]! += sign;
  }
}

/** Tasks with each text that was rewarded. */
function tasksByText(batches: readonly WaitingBatch[]): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const { texts } of batches) {
    for (let at = 0; at < texts.length; at += 2) {
      const tasks = found.get(texts[at]!) ?? new Set();
      found.set(texts[at]!, tasks.add(texts[at + 1]!));
    }
  }
  return found;
}

/** Adds a batch's phrases to those that are usual. */
export function makeUsual(
  state: Pick<ScaleState, 'phrases' | 'tasks'>,
  { slots, tasks }: WaitingBatch,
): void {
  const { phrases } = state;
  for (let at = 0; at < slots.length; at++) phrases[slots[at]!]! += 1;
  state.tasks += tasks;
  if (state.tasks <= mostUsual) return;
  for (let slot = 0; slot < slotCount; slot++) phrases[slot]! >>>= 1;
  state.tasks /= 2;
}
