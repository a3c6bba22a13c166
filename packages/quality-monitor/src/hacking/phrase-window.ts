import { emptyWord, pairHash, wordHash } from '../text/word-hash.ts';
import { type Generation, SlidingCounts } from './sliding-counts.ts';
import { type DetectorState, phraseBits } from './state.ts';

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

type State = DetectorState['phrases'];

/**
 * Counts the tasks in which words and phrases, given by hashes, occurred recently and usually.
 *
 * Recent phrases become usual some batches later. A response that its task got recently does not count again. Slots of the table
 * are shared by chance, which makes phrases look more usual than they are.
 */
export class PhraseWindow {
  readonly #delayBatches: number;
  readonly #state: State;
  readonly #phrases: SlidingCounts;
  readonly #templates: SlidingCounts;
  /** Pairs of task and response. */
  readonly #responses: SlidingCounts;
  #task = emptyWord;
  /** Most usual occurrences per recent task that can surprise. */
  #usualPerTask = Number.NEGATIVE_INFINITY;

  /**
   * @param delayBatches - Batches before phrases become usual.
   * @param state - Its `waiting` generations are neither recent nor usual, oldest first.
   */
  constructor(delayBatches: number, state: State) {
    this.#delayBatches = delayBatches;
    this.#state = state;
    this.#phrases = new SlidingCounts(phraseBits, state.phrases);
    this.#templates = new SlidingCounts(templateBits, state.templates);
    this.#responses = new SlidingCounts(responseBits, state.responses);
  }

  /** Whether usual phrases are known. */
  get isReady(): boolean {
    return this.#state.usualTasks >= leastUsual && this.#phrases.hasPast;
  }

  beginBatch(): void {
    const { waiting } = this.#state;
    this.#state.batch += 1;
    while (waiting.length > 0 && waiting[0]!.batch < this.#state.batch - this.#delayBatches) {
      this.#makeUsual(waiting.shift()!);
    }
  }

  /** Begins the responses of a task. */
  beginTask(name: string): void {
    this.#task = wordHash(name);
    const { batch, usualTasks, waiting } = this.#state;
    this.#templates.beginTask(batch);
    this.#responses.beginTask(batch);
    const oldest = this.#phrases.beginTask(batch, usualTasks < hurriedUsual ? 2 : undefined);
    if (oldest !== undefined) {
      if (usualTasks >= settledUsual) waiting.push(oldest);
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
    this.#state.waiting = [];
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
    return this.#state.usual[slot]! <= lately * this.#usualPerTask + 1 + 1e9 * tooFew;
  }

  /**
   * Nats of surprise at a phrase in so many other recent tasks.
   *
   * This is the log-likelihood ratio of two rates, recent and usual, against one rate, minus the nats of chance.
   */
  surprise(slot: number, lately: number): number {
    const { usualTasks } = this.#state;
    if (lately < trendingTasks || usualTasks === 0) return 0;
    const tasks = this.#phrases.tasks;
    const compared = Math.min(comparedUsual, usualTasks);
    const usual = (this.#state.usual[slot]! * compared) / usualTasks;
    const rate = (lately + usual) / (tasks + compared);
    if (lately < 2 * rate * tasks) return 0;
    const nats =
      lately * Math.log(lately / (tasks * rate)) +
      (usual === 0 ? 0 : usual * Math.log(usual / (compared * rate)));
    return Math.min(mostNats, Math.max(0, nats - chanceNats));
  }

  /** Solves the first condition of `surprise` for the usual count. */
  #setLimit(): void {
    const { usualTasks } = this.#state;
    if (usualTasks === 0) return;
    const tasks = this.#phrases.tasks;
    const compared = Math.min(comparedUsual, usualTasks);
    this.#usualPerTask = ((tasks + compared) / (2 * tasks) - 1) * (usualTasks / compared);
  }

  #makeUsual({ tasks, slots, used }: Generation): void {
    const { usual } = this.#state;
    for (let at = 0; at < used; at++) usual[slots[at]!]! += 1;
    this.#state.usualTasks += tasks;
    if (this.#state.usualTasks <= mostUsual) return;
    for (let slot = 0; slot < usual.length; slot++) usual[slot]! >>>= 1;
    this.#state.usualTasks /= 2;
  }
}
