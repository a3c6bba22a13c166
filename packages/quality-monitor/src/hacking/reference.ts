import type { Clusters } from './design-effect.ts';
import { bins, traits, unknown } from './signals.ts';
import type { DetectorState } from './state.ts';
import { TraitCounts } from './trait-counts.ts';

/** Traits of a batch's responses. */
export interface BatchRows {
  /** Shape: `[responses × traits]`. */
  readonly rows: Uint8Array;
  /** Signed weights of the responses, −1 to 1. Responses of weight 0 are ignored. Shape: `[responses]`. */
  readonly weights: Float32Array;
  readonly clusters: Clusters;
}

/** A batch that has not joined the reference, except for traits that were taken at once (1). */
interface WaitingBatch extends BatchRows {
  readonly taken: Uint8Array;
}

/** Options of {@link Reference}. */
export interface ReferenceOptions {
  /** Responses before it is ready. */
  readonly warmUpResponses: number;
  /** Batches before one joins it. */
  readonly delayBatches: number;
  /** Responses to remember, approximately. */
  readonly memoryResponses: number;
}

type ReferenceState = DetectorState['reference'];

const width = traits.length;
/** Least batches before it is ready. */
const leastBatches = 4;
/** Responses until which it learns faster, and the delay in batches until then. */
const [settled, settlingBatches] = [256, 4];
/** Pseudo-count on either side, distributed as all responses. */
const pseudoCount = 8;
const mostSurprise = Math.log(10);

/** Distribution of each trait in earlier batches, among rewarded and unrewarded responses. */
export class Reference {
  readonly #options: ReferenceOptions;
  readonly #rewarded = new TraitCounts();
  readonly #others = new TraitCounts();
  #waiting: WaitingBatch[] = [];
  #responses = 0;
  /** Batches with a known value of each trait, up to the least number. */
  readonly #batchesKnown = new Uint8Array(width);

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  /** Whether there is enough data about a trait. */
  isReady(trait: number): boolean {
    return (
      this.#responses >= this.#options.warmUpResponses &&
      this.#batchesKnown[trait]! >= leastBatches &&
      2 * this.#allKnown(trait) >= this.#options.warmUpResponses
    );
  }

  /**
   * Adds a batch: unknown traits at once, the others after `delayBatches`.
   *
   * @param onKnown - Called with each batch before the rest of it joins. `marks` is 1 for the traits that join.
   */
  add(batch: BatchRows, onKnown: (known: BatchRows, marks: Uint8Array) => void): void {
    const taken = Uint8Array.from(traits, (_, trait) => (this.isReady(trait) ? 0 : 1));
    const count = batch.weights.filter((weight) => weight !== 0).length;
    const { memoryResponses } = this.#options;
    this.#responses = Math.min(memoryResponses, this.#responses + count);
    this.#take(batch, taken, 1);
    this.#waiting.push({ ...batch, taken });
    const ready = taken.map((mark, trait) => mark & (this.isReady(trait) ? 1 : 0));
    for (const known of ready.includes(1) ? this.#waiting : []) {
      onKnown(
        known,
        ready.map((mark, trait) => mark & known.taken[trait]!),
      );
    }
    while (this.#waiting.length > this.#delay()) {
      const oldest = this.#waiting.shift()!;
      onKnown(
        oldest,
        oldest.taken.map((mark) => 1 - mark),
      );
      this.#take(oldest, oldest.taken, 0);
    }
  }

  /** Forgets suspect batches that have not joined. */
  dropWaiting(): void {
    this.#waiting = [];
  }

  /**
   * Returns for each tail the lowest bin that at most this share of the rewarded responses reaches.
   *
   * @param tails - The widest first.
   * @param least - Lower bound on the bins.
   */
  thresholds(trait: number, tails: readonly number[], least: number): number[] {
    const found = tails.map(() => least);
    const known = this.known(trait);
    const all = this.#allKnown(trait) + 10;
    let [rewarded, either, tail] = [0, 0.1, tails.length - 1];
    for (let bin = bins - 1; bin >= least && tail >= 0; bin--) {
      const here = this.#rewarded.at(trait, bin);
      rewarded += here;
      either += here + this.#others.at(trait, bin);
      const reached = rewarded + (pseudoCount * either) / all;
      while (tail >= 0 && reached > tails[tail]! * known) found[tail--] = bin + 1;
    }
    return found;
  }

  /** Shares of rewarded and unrewarded responses in a bin or above, with the pseudo-count. */
  shares(trait: number, bin: number): { readonly rewarded: number; readonly others: number } {
    const rewarded = this.#rewarded.beyond(trait, bin);
    const others = this.#others.beyond(trait, bin);
    const pseudo = (pseudoCount * (rewarded + others + 0.1)) / (this.#allKnown(trait) + 10);
    return {
      rewarded: (rewarded + pseudo) / this.known(trait),
      others: (others + pseudo) / (this.#others.known(trait) + pseudoCount),
    };
  }

  /**
   * Surprise of each value of each trait: `−ln(10 × share of the rewarded with as much or more)`, limited to 0…2.3.
   *
   * The limit keeps rare values comparable while the reference grows. Shape: `[traits × bins]`.
   */
  surprises(): Float32Array {
    const table = new Float32Array(width * bins);
    for (let trait = 0; trait < width; trait++) {
      if (!this.isReady(trait)) continue;
      const known = this.known(trait);
      const all = this.#allKnown(trait) + 10;
      let [rewarded, either] = [0, 0.1];
      for (let bin = bins - 1; bin > 0; bin--) {
        const here = this.#rewarded.at(trait, bin);
        rewarded += here;
        either += here + this.#others.at(trait, bin);
        const share = (rewarded + (pseudoCount * either) / all + 0.5) / known;
        table[trait * bins + bin] = Math.min(mostSurprise, Math.max(0, -Math.log(10 * share)));
      }
    }
    return table;
  }

  /** Rewarded responses with a known trait, including the pseudo-count. */
  known(trait: number): number {
    return this.#rewarded.known(trait) + pseudoCount;
  }

  saveState(): ReferenceState {
    const waiting = [...this.#waiting];
    return {
      rewarded: this.#rewarded.saveState(),
      others: this.#others.saveState(),
      responses: this.#responses,
      batchesKnown: [...this.#batchesKnown],
      get waiting() {
        return waiting.map(({ rows, weights, clusters: { numbers, of }, taken }) => ({
          rows: [...rows],
          weights: [...weights],
          clusters: { numbers: [...numbers], of },
          taken: [...taken],
        }));
      },
    };
  }

  loadState(state: ReferenceState): void {
    this.#rewarded.loadState(state.rewarded);
    this.#others.loadState(state.others);
    this.#responses = state.responses;
    this.#batchesKnown.set(state.batchesKnown);
    this.#waiting = state.waiting.map(({ rows, weights, clusters: { numbers, of }, taken }) => ({
      rows: Uint8Array.from(rows),
      weights: Float32Array.from(weights),
      clusters: { numbers: Uint32Array.from(numbers), of },
      taken: Uint8Array.from(taken),
    }));
  }

  /** Batches before one joins. */
  #delay(): number {
    const { delayBatches, memoryResponses } = this.#options;
    const isSettled = this.#responses >= Math.min(settled, memoryResponses);
    return isSettled ? delayBatches : Math.min(settlingBatches, delayBatches);
  }

  #allKnown(trait: number): number {
    return this.#rewarded.known(trait) + this.#others.known(trait);
  }

  /** Adds the traits of a batch that are marked so. */
  #take({ rows, weights }: BatchRows, marks: Uint8Array, marked: 0 | 1): void {
    for (let trait = 0; trait < width; trait++) {
      if (marks[trait] !== marked) continue;
      this.#fade(trait, weights.length);
      const before = this.#allKnown(trait);
      for (let at = 0; at < weights.length; at++) {
        const weight = weights[at]!;
        const bin = rows[at * width + trait]!;
        if (bin === unknown || weight === 0) continue;
        (weight > 0 ? this.#rewarded : this.#others).add(trait, bin, Math.abs(weight));
      }
      const isNews = this.#allKnown(trait) > before;
      if (isNews && this.#batchesKnown[trait]! < leastBatches) this.#batchesKnown[trait]! += 1;
    }
  }

  /** Fades older responses to make room. */
  #fade(trait: number, coming: number): void {
    const { memoryResponses } = this.#options;
    const factor = memoryResponses / Math.max(memoryResponses, this.#allKnown(trait) + coming);
    if (factor === 1) return;
    this.#rewarded.fade(trait, factor);
    this.#others.fade(trait, factor);
  }
}
