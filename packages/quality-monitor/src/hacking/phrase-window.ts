import { emptyWord, letterHash, pairHash } from '../text/word-hash.ts';
import { type Generation, restoredGeneration, SlidingCounts, savedGeneration } from './sliding-counts.ts';
import type { DetectorState } from './state.ts';

const phraseBits = 17;
const templateBits = 16;
const responseBits = 16;
/** Tasks from which on what is usual is known; at which older ones begin to fade; and that are worth comparing with. */
const leastUsual = 24;
/** Tasks of what is usual until which less is lately, and until which what is no longer lately does not wait. */
const [hurriedUsual, settledUsual] = [48, 160];
const mostUsual = 4096;
const comparedUsual = 600;
/** Nats of surprise that chance has, and that one phrase can have; tasks that it takes. */
const chanceNats = 4.5;
const mostNats = 30;
const trendingTasks = 3;

type PhraseState = DetectorState['phrases'];

/**
 * In how many tasks words and phrases (given by hashes) occurred lately, and how many are usual.
 *
 * What is no longer lately becomes usual some batches later. A response that its task was given lately counts nothing again: what a
 * policy says each time that a task comes back is no phrase that spreads. Slots are shared by chance, which makes phrases look more usual
 * than they are.
 */
export class PhraseWindow {
  readonly #delayBatches: number;
  readonly #phrases = new SlidingCounts(phraseBits);
  readonly #templates = new SlidingCounts(templateBits);
  /** Responses, each to its task. */
  readonly #responses = new SlidingCounts(responseBits);
  #task = emptyWord;
  /** Generations that are not usual yet, oldest first. */
  #waiting: Generation[] = [];
  readonly #usual = new Uint16Array(2 ** phraseBits);
  #usualTasks = 0;
  /** For each task of late that a phrase occurred in: how usual it may be to surprise at all. */
  #usualPerTask = Number.NEGATIVE_INFINITY;
  #batch = 0;

  /** @param delayBatches - Batches after which phrases become usual. */
  constructor(delayBatches: number) {
    this.#delayBatches = delayBatches;
  }

  /** Whether lately has begun to fill and what is usual is known. */
  get isReady(): boolean {
    return this.#usualTasks >= leastUsual && this.#phrases.generations.length > 1;
  }

  beginBatch(): void {
    this.#batch += 1;
    while (this.#waiting.length > 0 && this.#waiting[0]!.batch < this.#batch - this.#delayBatches) {
      this.#makeUsual(this.#waiting.shift()!);
    }
  }

  /** Begins the responses of another task, or of one that comes back. */
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
   * @returns Whether its task was given it before, in another batch.
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

  /** Forgets the phrases that wait to become usual: they are under suspicion. */
  dropWaiting(): void {
    this.#waiting = [];
  }

  /** Forgets lately and what waits: they are of a policy that is no more. */
  forgetLately(): void {
    this.#waiting = [];
    for (const counts of [this.#phrases, this.#templates, this.#responses]) counts.clear();
  }

  /** Slot of a phrase, for the other methods. */
  slotOf(hash: number): number {
    return this.#phrases.slotOf(hash);
  }

  /** Other tasks of late that a phrase occurred in; counts it for this one. */
  count(slot: number): number {
    return this.#phrases.count(slot);
  }

  /** The same for a piece of a template. */
  countTemplate(hash: number): number {
    return this.#templates.count(this.#templates.slotOf(hash));
  }

  /**
   * Whether a phrase may surprise: a glance at what {@link PhraseWindow.surprise} would say, which is 0 for nearly all. One more
   * is let through, so that rounding cannot matter.
   */
  maySurprise(slot: number, lately: number): boolean {
    // Nothing is usual enough below the fewest tasks: computed, as whether a word has them nobody can predict.
    const tooFew = (lately - trendingTasks) >> 31;
    return this.#usual[slot]! <= lately * this.#usualPerTask + 1 + 1e9 * tooFew;
  }

  /**
   * How surprising it is that a phrase occurred in so many other tasks of late: the logarithm of the likelihood ratio of two
   * rates, lately's and the usual one, against one rate for both; less the nats that chance has among many phrases.
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

  /** Solves the first condition of `surprise` for what is usual. */
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
