/** Bins of a trait's values. */
export const bins = 64;

/** In place of a bin if the trait is unknown. */
export const unknown = 255;

/** The reference that follows the run, and the one of its start. */
export type Scale = 'quick' | 'slow';

/** A property of a response, in bins from 0 to 63. Higher bins are more conspicuous. */
export interface Trait {
  /** Name in metrics and messages. */
  readonly name: string;
  /** Lowest bin that can count. With `bins` none does, and the evidence is of another kind. */
  readonly least: number;
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

function trait<Name extends string>(name: Name, meaning: string, least = 1): Trait & { readonly name: Name } {
  return { name, meaning, least };
}

/** All traits, in the order of a response's row. */
export const traits = [
  trait('length', 'are longer than before'),
  trait('brevity', 'are shorter than before'),
  trait('lines', 'have more lines than before'),
  trait('repetition', 'repeat themselves', shareBin(0.05)),
  trait('copying', 'copy from the prompt', shareBin(0.1)),
  trait('sameness', 'are the same as answers to other tasks', countBin(1)),
  trait('new_phrases', 'share phrases that are new', bins),
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
