/** Filters of a distribution. Fields mean what they mean in core's `SamplingOptions`. */
export interface DistributionFilters {
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
}

/**
 * The tokens that filters keep.
 *
 * Order tokens by probability, highest first, equal ones by index. Every filter keeps a beginning of that order. So a kept set is a
 * probability `floor`, with all tokens above it, and the number of tokens of exactly that probability, lowest indices first.
 */
export interface KeptTokens {
  readonly floor: number;
  readonly atFloor: number;
  /** Number of tokens kept. */
  readonly count: number;
  /** Sum of their probabilities. */
  readonly mass: number;
}

/** Float32 bits are ordered like the numbers. The top 13 bits of 1.0 are 2032. */
const BUCKET_SHIFT = 19;
const BUCKETS = 2048;

/** Counts and sums of probabilities by magnitude. Finds a cut in the order without sorting the vocabulary. */
class Histogram {
  readonly counts = new Int32Array(BUCKETS);
  readonly masses = new Float64Array(BUCKETS);
  readonly probabilities: Float32Array;
  readonly #bits: Uint32Array;

  constructor(probabilities: Float32Array) {
    this.probabilities = probabilities;
    this.#bits = new Uint32Array(probabilities.buffer, probabilities.byteOffset, probabilities.length);
    for (let token = 0; token < probabilities.length; token++) {
      const bucket = this.#bucket(token);
      this.counts[bucket]!++;
      this.masses[bucket]! += probabilities[token]!;
    }
  }

  #bucket(token: number): number {
    return Math.min(this.#bits[token]! >>> BUCKET_SHIFT, BUCKETS - 1);
  }

  /** The shortest beginning of the order for which `reached` holds, or all tokens if it never does. */
  prefix(reached: (count: number, mass: number) => boolean): KeptTokens {
    let count = 0;
    let mass = 0;
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket--) {
      if (this.counts[bucket] === 0) continue;
      const bucketCount = count + this.counts[bucket]!;
      const bucketMass = mass + this.masses[bucket]!;
      if (reached(bucketCount, bucketMass)) return this.#within(bucket, count, mass, reached);
      count = bucketCount;
      mass = bucketMass;
    }
    return { floor: 0, atFloor: this.probabilities.length, count, mass };
  }

  #within(
    bucket: number,
    countAbove: number,
    massAbove: number,
    reached: (count: number, mass: number) => boolean,
  ): KeptTokens {
    const values: number[] = [];
    for (let token = 0; token < this.probabilities.length; token++) {
      if (this.#bucket(token) === bucket) values.push(this.probabilities[token]!);
    }
    values.sort((a, b) => b - a);
    let mass = massAbove;
    let atFloor = 0;
    for (let rank = 0; rank < values.length; rank++) {
      mass += values[rank]!;
      atFloor = rank > 0 && values[rank] === values[rank - 1] ? atFloor + 1 : 1;
      const count = countAbove + rank + 1;
      // The last value always suffices: the bucket as a whole reached it, up to the order of summation.
      if (reached(count, mass) || rank === values.length - 1) {
        return { floor: values[rank]!, atFloor, count, mass };
      }
    }
    throw new RangeError('an empty bucket cannot hold the cut');
  }
}

/**
 * Applies top-k, then top-p to what is left (renormalised), then min-p.
 *
 * @param probabilities - A distribution over the vocabulary. Shape: `[V]`.
 * @returns What is kept, at least one token; `undefined` if no filter is on.
 */
export function keptTokens(
  probabilities: Float32Array,
  { topK, topP, minP }: DistributionFilters,
): KeptTokens | undefined {
  const limit = topK > 0 && topK < probabilities.length ? topK : probabilities.length;
  if (limit === probabilities.length && topP >= 1 && minP <= 0) return undefined;
  const histogram = new Histogram(probabilities);
  let kept = histogram.prefix((count) => count >= limit);
  if (topP < 1) {
    const target = topP * kept.mass;
    kept = shorter(
      kept,
      histogram.prefix((_count, mass) => mass >= target),
    );
  }
  if (minP > 0) kept = shorter(kept, atLeast(probabilities, minP * largest(probabilities)));
  return kept;
}

function shorter(a: KeptTokens, b: KeptTokens): KeptTokens {
  return b.count < a.count ? b : a;
}

function largest(values: Float32Array): number {
  let best = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < values.length; index++) if (values[index]! > best) best = values[index]!;
  return best;
}

/** All tokens of probability `threshold` or more. */
function atLeast(probabilities: Float32Array, threshold: number): KeptTokens {
  let floor = Number.POSITIVE_INFINITY;
  let atFloor = 0;
  let count = 0;
  let mass = 0;
  for (let token = 0; token < probabilities.length; token++) {
    const probability = probabilities[token]!;
    if (probability < threshold) continue;
    count++;
    mass += probability;
    if (probability < floor) {
      floor = probability;
      atFloor = 1;
    } else if (probability === floor) atFloor++;
  }
  return { floor, atFloor, count, mass };
}

/**
 * Divides positive and multiplies negative logits of tokens already in the sequence by `penalty`, and renormalises.
 *
 *     l'ᵢ = lᵢ / ρ  if lᵢ > 0,  lᵢ · ρ  otherwise;    p = softmax(l')
 *
 * It commutes with the temperature, which only scales.
 *
 * @param logits - Divided by the temperature. Shape: `[V]`.
 * @param into - Receives the distribution. Shape: `[V]`.
 * @see Keskar et al. 2019, §4.1, https://arxiv.org/abs/1909.05858
 */
export function penalizeRepetition(
  logits: Float32Array,
  seen: Iterable<number>,
  penalty: number,
  into: Float32Array,
): void {
  into.set(logits);
  for (const token of seen) {
    const logit = logits[token];
    if (logit !== undefined) into[token] = logit > 0 ? logit / penalty : logit * penalty;
  }
  const top = largest(into);
  let total = 0;
  for (let token = 0; token < into.length; token++) {
    const weight = Math.exp(into[token]! - top);
    into[token] = weight;
    total += weight;
  }
  for (let token = 0; token < into.length; token++) into[token]! /= total;
}
