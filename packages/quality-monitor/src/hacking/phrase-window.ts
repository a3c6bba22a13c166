import { emptyWord, letterHash, pairHash } from '../text/word-hash.ts';
import { type Generation, restoredGeneration, SlidingCounts, savedGeneration } from './sliding-counts.ts';
import type { DetectorState } from './state.ts';

const phraseBits = 17;
const templateBits = 16;
const responseBits = 16;
/** Least usual tasks to judge by. */
const leastUsual = 24;
/** Usual tasks below which the recent window is shorter, and below which recent phrases become usual at once. */
const [hurriedUsual, settledUsual] = [48, 160];
const mostUsual = 4096;
const comparedUsual = 600;
/** Nats attributed to chance, most nats of one phrase, and least recent tasks with it. */
const chanceNats = 4.5;
const mostNats = 30;
const trendingTasks = 3;

type PhraseState = DetectorState['phrases'];

/**
 * Counts the tasks in which words and phrases, given by hashes, occurred recently and usually.
 *
 * Recent phrases become usual some batches later. A response that its task got recently does not count again. Slots of the table
 * are shared by chance, which makes phrases look more usual than they are.
 */
export class PhraseWindow {
  readonly #delayBatches: number;
  readonly #phrases = new SlidingCounts(phraseBits);
  readonly #templates = new SlidingCounts(templateBits);
  /** Pairs of task and response. */
  readonly #responses = new SlidingCounts(responseBits);
  #task = emptyWord;
  /** Generations that are neither recent nor usual, oldest first. */
  #waiting: Generation[] = [];
  readonly #usual = new Uint16Array(2 ** phraseBits);
  #usualTasks = 0;
  /** Most usual occurrences per recent task that can surprise. */
  #usualPerTask = Number.NEGATIVE_INFINITY;
  #batch = 0;

  /** @param delayBatches - Batches before phrases become usual. */
  constructor(delayBatches: number) {
    this.#delayBatches = delayBatches;
  }

  /** Whether usual phrases are known. */
  get isReady(): boolean {
    return this.#usualTasks >= leastUsual && this.#phrases.generations.length > 1;
  }

  beginBatch(): void {
    this.#batch += 1;
    while (this.#waiting.length > 0 && this.#waiting[0]!.batch < this.#batch - this.#delayBatches) {
      this.#makeUsual(this.#waiting.shift()!);
    }
  }

  /** Begins the responses of a task. */
  beginTask(name: string): void {
    this.#task = emptyWord;
    for (let at = 0; at < name.length; at++) this.#task = letterHash(this.#task, name.charCodeAt(at));
    this.#templates.beginTask(this.#batch);
    this.#responses.beginTask(this.#batch);
    const oldest = this.#phrases.beginTask(this.#batch, this.#usualTasks < hurriedUsual ? 2 : undefined);
    if (oldest !== undefined) {
      if (this.#usualTasks >= settledUsual) this.#waiting.push(oldest);
      else this.#makeUsual(oldest);
    }
    this.#setLimit();
  }

  /**
   * @param text - Hash of the response.
   * @returns Whether its task got it in an earlier batch.
   */
  beginResponse(text: number): 'new' | 'again' {
    const slot = this.#responses.slotOf(pairHash(this.#task, text));
    const what = this.#responses.others(slot) > 0 ? 'again' : 'new';
    this.#responses.beginResponse(what);
    this.#responses.count(slot);
    this.#phrases.beginResponse(what);
    this.#templates.beginResponse(what);
    return what;
  }

  /** Forgets suspect phrases that have not become usual. */
  dropWaiting(): void {
    this.#waiting = [];
  }

  /** Forgets phrases that have not become usual, after a roll-back. */
  forgetLately(): void {
    this.#waiting = [];
    for (const counts of [this.#phrases, this.#templates, this.#responses]) counts.clear();
  }

  /** Slot of a phrase in the table. */
  slotOf(hash: number): number {
    return this.#phrases.slotOf(hash);
  }

  /** Counts a phrase for this task. @returns Other recent tasks with it. */
  count(slot: number): number {
    return this.#phrases.count(slot);
  }

  /** Counts a piece of a template. @returns Other recent tasks with it. */
  countTemplate(hash: number): number {
    return this.#templates.count(this.#templates.slotOf(hash));
  }

  /** Fast check whether {@link PhraseWindow.surprise} can be above 0. The margin of 1 absorbs rounding. */
  maySurprise(slot: number, lately: number): boolean {
    // Without a branch, because it would be unpredictable.
    const tooFew = (lately - trendingTasks) >> 31;
    return this.#usual[slot]! <= lately * this.#usualPerTask + 1 + 1e9 * tooFew;
  }

  /**
   * Nats of surprise at a phrase in so many other recent tasks.
   *
   * This is the log-likelihood ratio of two rates, recent and usual, against one rate, minus the nats of chance.
   */
  surprise(slot: number, lately: number): number {
    if (lately < trendingTasks || this.#usualTasks === 0) return 0;
    const tasks = this.#phrases.tasks;
    const compared = Math.min(comparedUsual, this.#usualTasks);
    const usual = (this.#usual[slot]! * compared) / this.#usualTasks;
    const rate = (lately + usual) / (tasks + compared);
    if (lately < 2 * rate * tasks) return 0;
    const nats =
      lately * Math.log(lately / (tasks * rate)) +
      (usual === 0 ? 0 : usual * Math.log(usual / (compared * rate)));
    return Math.min(mostNats, Math.max(0, nats - chanceNats));
  }

  saveState(): PhraseState {
    const usual = this.#usual.slice();
    return {
      phrases: this.#phrases.saveState(),
      templates: this.#templates.saveState(),
      responses: this.#responses.saveState(),
      waiting: this.#waiting.map(savedGeneration),
      get usual() {
        return notZero(usual);
      },
      usualTasks: this.#usualTasks,
      batch: this.#batch,
    };
  }

  loadState({ phrases, templates, responses, waiting, usual, usualTasks, batch }: PhraseState): void {
    this.#phrases.loadState(phrases);
    this.#templates.loadState(templates);
    this.#responses.loadState(responses);
    this.#waiting = waiting.map(restoredGeneration);
    this.#usual.fill(0);
    for (let at = 0; at < usual.length; at += 2) this.#usual[usual[at]!] = usual[at + 1]!;
    this.#usualTasks = usualTasks;
    this.#batch = batch;
  }

  /** Solves the first condition of `surprise` for the usual count. */
  #setLimit(): void {
    if (this.#usualTasks === 0) return;
    const tasks = this.#phrases.tasks;
    const compared = Math.min(comparedUsual, this.#usualTasks);
    this.#usualPerTask = ((tasks + compared) / (2 * tasks) - 1) * (this.#usualTasks / compared);
  }

  #makeUsual({ tasks, slots, used }: Generation): void {
    for (let at = 0; at < used; at++) this.#usual[slots[at]!]! += 1;
    this.#usualTasks += tasks;
    if (this.#usualTasks <= mostUsual) return;
    for (let slot = 0; slot < this.#usual.length; slot++) this.#usual[slot]! >>>= 1;
    this.#usualTasks /= 2;
  }
}

/** `[slot, count, …]` of what is not 0. */
function notZero(counts: Uint16Array): number[] {
  const pairs: number[] = [];
  for (let slot = 0; slot < counts.length; slot++) {
    if (counts[slot]! > 0) pairs.push(slot, counts[slot]!);
  }
  return pairs;
}
