import { divergence } from '../monitor/shared-phrases.ts';
import type { Tasks } from './batch-facts.ts';
import type { DetectorState, WaitingBatch } from './state.ts';
import { rarityOf, slotCount } from './text-measures.ts';

/** Recent batches that are compared, most usual tasks that count in it, and number from which older ones count half. */
const [recentBatches, comparedUsual, mostUsual] = [5, 1500, 4096];
/** Tasks that share a text beyond which more mean nothing: a frequent text has more of them in some batches than in others. */
const manyTasks = 3;
/** Least recent tasks with a phrase, nats of a clear surprise, and most of them that are looked at. */
const [leastTasks, mostClear] = [3, 32];
export const clearNats = 4;
/** Pseudo-count of unrewarded responses, distributed as usual. */
const pseudo = 8;

/** What is known of usual phrases. */
type Usual = Pick<DetectorState, 'phrases' | 'tasks'>;

/** A phrase that more of the recent tasks have than usual ones. */
export interface Surprise {
  readonly slot: number;
  readonly nats: number;
  readonly share: number;
  readonly usualShare: number;
}

/**
 * Counts the rewarded tasks in which phrases occurred recently: characters, words, and pairs of either.
 *
 * A phrase is known by its slot in a table. Slots are shared by chance, which makes phrases look more usual than they are.
 */
export class RecentPhrases {
  /** Recent tasks with each slot. Shape: `[slotCount]`. */
  readonly #counts = new Uint16Array(slotCount);
  /** Phrases of the tasks counted. */
  #counted = new Map<number, Uint16Array>();
  /** Tasks with each text. */
  #tasksOf = new Map<number, Set<number>>();
  readonly #seenIn = new Uint32Array(slotCount);
  #task = 0;

  /** Counts the newest batches. A task that comes back counts once, as it was last. */
  update(waiting: readonly WaitingBatch[]): void {
    const wanted = new Map<number, Uint16Array>();
    const batches = waiting.slice(-recentBatches);
    for (const { slots, tasks } of batches) {
      for (let at = 0; at < tasks.length; at += 2)
        wanted.set(tasks[at]!, slots.subarray(tasks[at - 1] ?? 0, tasks[at + 1]));
    }
    this.#count(this.#counted, wanted, -1);
    this.#count(wanted, this.#counted, 1);
    this.#counted = wanted;
    this.#tasksOf = tasksByText(batches);
  }

  /**
   * Gathers a batch's phrases, each once for a task with rewarded responses, and those tasks.
   *
   * @param hashes - Hashes of the tasks.
   * @param phrases - Phrases of each response.
   */
  gather(
    tasks: Tasks,
    hashes: readonly number[],
    weights: Float32Array,
    phrases: readonly Uint16Array[],
  ): Pick<WaitingBatch, 'slots' | 'tasks'> {
    const slots = new Uint16Array(phrases.reduce((sum, one) => sum + one.length, 0));
    const seen = this.#seenIn;
    const rewardedTasks: number[] = [];
    let used = 0;
    for (const [number, [, members]] of tasks.entries()) {
      const rewarded = members.filter((at) => weights[at]! > 0);
      this.#task += 1;
      for (const own of rewarded.map((at) => phrases[at]!)) {
        for (let at = 0; at < own.length; at++) {
          const slot = own[at]!;
          if (seen[slot] === this.#task) continue;
          seen[slot] = this.#task;
          slots[used++] = slot;
        }
      }
      if (rewarded.length > 0) rewardedTasks.push(hashes[number]!, used);
    }
    return { slots: slots.slice(0, used), tasks: Int32Array.from(rewardedTasks) };
  }

  /**
   * The clearest surprises among the phrases of a batch that was counted, down to three quarters of the most nats: the log-likelihood ratio
   * of two shares, recent and usual, against one. Where more of its unrewarded responses have a phrase, their share is the usual one.
   */
  surprises({ weights }: WaitingBatch, phrases: readonly Uint16Array[], usual: Usual): Surprise[] {
    const [rewarded, others] = [1, -1].map((sign) => phrases.filter((_, at) => sign * weights[at]! > 0));
    const compared = Math.min(comparedUsual, usual.tasks);
    const tasks = this.#counted.size;
    const surpriseOf = (slot: number, usualShare: number, expected: number): Surprise => {
      const share = this.#counts[slot]! / tasks;
      const pooled = (tasks * share + compared * expected) / (tasks + compared);
      const nats = tasks * divergence(share, pooled) + compared * divergence(expected, pooled);
      return { slot, share, usualShare, nats: share > expected ? nats + rarityOf(slot) : 0 };
    };
    let enough = clearNats;
    return this.#unusual(usual, compared)
      .map((slot) => surpriseOf(slot, usual.phrases[slot]! / usual.tasks, usual.phrases[slot]! / usual.tasks))
      .sort((a, b) => b.nats - a.nats)
      .slice(0, mostClear)
      .flatMap(({ slot, usualShare, nats }) => {
        if (nats < enough || !rewarded!.some((own) => own.includes(slot))) return [];
        const hits = others!.filter((own) => own.includes(slot)).length;
        const now = (hits - Math.sqrt(hits) / 2 + pseudo * usualShare) / (others!.length + pseudo);
        const surprise = surpriseOf(slot, usualShare, Math.max(usualShare, now));
        enough = Math.max(enough, 0.75 * surprise.nats);
        return surprise;
      })
      .filter(({ nats }) => nats >= enough)
      .sort((a, b) => b.nats - a.nats);
  }

  /** Phrases whose share is higher than usual by so many standard errors that their surprise can be clear. */
  #unusual({ phrases, tasks: usualTasks }: Usual, compared: number): number[] {
    const tasks = this.#counted.size;
    const variance = (1.6 * clearNats * (tasks + compared)) / (tasks * compared);
    const found: number[] = [];
    for (let slot = 0; slot < slotCount; slot++) {
      const lately = this.#counts[slot]!;
      if (lately < leastTasks) continue;
      const usualShare = phrases[slot]! / usualTasks;
      const difference = lately / tasks - usualShare;
      const pooled = (lately + compared * usualShare) / (tasks + compared);
      if (difference > 0 && difference * difference >= variance * pooled * (1 - pooled)) found.push(slot);
    }
    return found;
  }

  /** Other recent tasks with the same text. */
  tasksWith(text: number, task: number): number {
    const tasks = this.#tasksOf.get(text);
    return tasks === undefined ? 0 : Math.min(manyTasks, tasks.size - Number(tasks.has(task)));
  }

  /** Counts the phrases of tasks that are not among others. */
  #count(
    tasks: ReadonlyMap<number, Uint16Array>,
    others: ReadonlyMap<number, Uint16Array>,
    sign: 1 | -1,
  ): void {
    for (const [task, slots] of tasks) {
      const other = others.get(task);
      if (other?.buffer === slots.buffer && other.byteOffset === slots.byteOffset) continue;
      for (let at = 0; at < slots.length; at++) this.#counts[slots[at]!]! += sign;
    }
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
export function makeUsual(state: Usual, { slots, tasks }: WaitingBatch): void {
  const { phrases } = state;
  for (let at = 0; at < slots.length; at++) phrases[slots[at]!]! += 1;
  state.tasks += tasks.length / 2;
  if (state.tasks <= mostUsual) return;
  for (let slot = 0; slot < slotCount; slot++) phrases[slot]! >>>= 1;
  state.tasks /= 2;
}
