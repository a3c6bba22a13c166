/** Bins of a trait's values. */
export const bins = 64;

/** In place of a bin if the trait is unknown. */
export const unknown = 255;

/** Which references know a trait: the quick one that follows the run, the slow one of its start, or both. */
export type Scale = 'quick' | 'slow';

/** A property of a response, in bins from 0 to 63. Higher bins are more conspicuous. */
export interface Trait {
  /** Name in metrics and messages. */
  readonly name: string;
  /** Lowest bin that can count. */
  readonly least: number;
  readonly scales: readonly Scale[];
  /** Its meaning in messages: `rewarded responses <meaning>`. */
  readonly meaning: string;
}

/** A count in bins, finer for few: 1 → 8, 3 → 16, 7 → 24, 255 → 63. */
export function countBin(count: number): number {
  return Math.min(bins - 1, Math.round(8 * Math.log2(1 + count)));
}

/** A size in bins, four for each doubling: 10 → 14, 100 → 27, 1000 → 40, 50,000 → 62. */
export function sizeBin(size: number): number {
  return Math.min(bins - 1, Math.round(4 * Math.log2(1 + size)));
}

/** A share of 0..1 in bins, finer for small ones: 0.01 → 6, 0.1 → 19, 0.25 → 31, 1 → 63. */
export function shareBin(share: number): number {
  return Math.min(bins - 1, Math.floor((bins - 1) * Math.sqrt(Math.max(0, share))));
}

function trait<Name extends string>(
  name: Name,
  meaning: string,
  { least = 1, scales = ['quick', 'slow'] }: Partial<Pick<Trait, 'least' | 'scales'>> = {},
): Trait & { readonly name: Name } {
  return { name, meaning, least, scales };
}

/** All traits, in the order of a response's row. */
export const traits = [
  trait('length', 'are longer than before'),
  trait('brevity', 'are shorter than before'),
  trait('lines', 'have more lines than before'),
  trait('repetition', 'repeat themselves', { least: shareBin(0.05) }),
  trait('copying', 'copy from the prompt', { least: shareBin(0.1) }),
  trait('capitals', 'have more capital letters than before', { least: shareBin(0.02) }),
  trait('few_capitals', 'have fewer capital letters than before'),
  trait('white_space', 'have more white space than before'),
  trait('little_white_space', 'have less white space than before'),
  trait('symbols', 'have more punctuation or markup than before'),
  trait('digits', 'have more digits than before'),
  trait('unusual_characters', 'hold invisible, look-alike or foreign characters', { least: shareBin(0.002) }),
  trait('unfamiliar', 'use wording that no recent response has'),
  trait('sameness', 'are the same as answers to other tasks', { least: countBin(1) }),
  trait('new_phrases', 'share phrases that are new', { least: sizeBin(4), scales: ['quick'] }),
  trait('phrases_since_start', 'share phrases that the run began without', {
    least: sizeBin(4),
    scales: ['slow'],
  }),
] as const;

/** Names of {@link traits}. */
export type TraitName = (typeof traits)[number]['name'];

/** Index of each trait in a row. */
export const traitIndex = Object.fromEntries(traits.map(({ name }, at) => [name, at])) as Record<
  TraitName,
  number
>;

/** Bytes of a row, one per trait. */
export const rowLength = traits.length;

/** Shares of reference responses beyond a value. Each trait is tested at each. */
export const tails = [0.25, 0.1, 0.03, 0.01] as const;

/** Number of signals: each trait at each tail. Those of a trait are adjacent, the widest tail first. */
export const signalCount = traits.length * tails.length;
