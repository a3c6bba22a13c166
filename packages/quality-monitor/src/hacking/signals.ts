/** Bins of a trait's values. */
export const bins = 64;

/** In place of a bin if the trait is unknown. */
export const unknown = 255;

/** A property of a response, in bins from 0 to 63. */
export interface Trait {
  /** Name in metrics and messages. */
  readonly name: string;
  /** Shares of reference responses beyond a value, one signal for each. `'present'`: any value above 0 counts. */
  readonly tails: readonly number[] | 'present';
  /** Lowest bin that can count. */
  readonly least: number;
  /** `'none'` counts without a reference, because clean text hardly has the trait. */
  readonly reference: 'needed' | 'none';
  /** Its meaning in messages: `rewarded responses <meaning>`. */
  readonly meaning: string;
}

/** A count in bins, finer for few: 1 → 8, 3 → 16, 7 → 24, 15 → 32, 255 → 63. */
export function countBin(count: number): number {
  return Math.min(bins - 1, Math.round(8 * Math.log2(1 + count)));
}

/** A size in bins, five for each doubling: 10 → 17, 100 → 33, 1000 → 50, 6000 → 63. */
export function sizeBin(size: number): number {
  return Math.min(bins - 1, Math.round(5 * Math.log2(1 + size)));
}

/** A share of 0..1 in bins, finer for small ones: 0.01 → 6, 0.1 → 19, 0.25 → 31, 1 → 63. */
export function shareBin(share: number): number {
  return Math.min(bins - 1, Math.floor((bins - 1) * Math.sqrt(Math.max(0, share))));
}

function trait<Name extends string>(
  name: Name,
  meaning: string,
  tails: Trait['tails'],
  { least = 1, reference = 'needed' }: Partial<Pick<Trait, 'least' | 'reference'>> = {},
): Trait & { readonly name: Name } {
  return { name, meaning, tails, least, reference };
}

const wide = [0.25, 0.1, 0.03, 0.01];

/** All traits, in the order of a response's row. */
export const traits = [
  trait('length', 'are longer than usual', wide),
  trait('brevity', 'are shorter than usual', wide),
  trait('long_words', 'have unusually long words', [0.01], { least: sizeBin(20) }),
  trait('character_runs', 'repeat one character', [0.01], { least: sizeBin(5) }),
  trait('repetition', 'repeat word sequences', wide, { least: shareBin(0.06) }),
  trait('loops', 'say the same again and again', wide, { least: countBin(3) }),
  trait('stuffed_word', 'repeat one word', wide, { least: shareBin(0.04) }),
  trait('markup', 'are denser in markup than usual', wide, { least: shareBin(0.01) }),
  trait('structure', 'have more lists, headings or tags than usual', wide),
  trait('symbols', 'have more punctuation than usual', wide),
  trait('digits', 'have more digits than usual', wide),
  trait('copying', 'copy from the prompt', wide, { least: shareBin(0.15) }),
  trait('template', 'are made of a template', wide, { least: shareBin(0.3) }),
  trait('trending_phrases', 'share phrases that are new', wide, { least: sizeBin(6) }),
  trait('unicode', 'hold invisible or look-alike characters', [0.01], { reference: 'none' }),
  trait('foreign', 'are in another script', wide, { least: shareBin(0.01) }),
  trait('exploit', 'speak to the grader or its code', [0.02], { least: countBin(3) }),
  trait('flattery', 'flatter', [0.05], { least: countBin(2) }),
  trait('hedging', 'hedge', [0.05], { least: countBin(3) }),
  trait('held_out', 'score low in the held-out component', 'present'),
  trait('verifier', 'are rejected by the verifier', 'present'),
  trait('dominance', 'earn it by one component alone', 'present'),
  trait('gain_without_diversity', 'gain more than ever with what others said', 'present'),
  trait('several_signs', 'are unusual in several ways at once', wide, { least: 8 }),
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

/** A test of one trait at one tail of the reference. */
export interface Signal {
  readonly trait: number;
  readonly tail: number | 'present';
}

/** All signals. Those of a trait are adjacent, the widest tail first. */
export const signals: readonly Signal[] = traits.flatMap(({ tails }: Trait, trait): Signal[] =>
  tails === 'present' ? [{ trait, tail: tails }] : tails.map((tail) => ({ trait, tail })),
);

/** Index of each trait's first signal, and the number of signals. Shape: `[traits + 1]`. */
export const firstSignals: Uint8Array = Uint8Array.from({ length: traits.length + 1 }, (_, trait) => {
  return signals.filter((signal) => signal.trait < trait).length;
});

/** Shares of the responses without a trait that a hack gives it to. Each has its own sums. */
export const shifts = [0.2, 0.4] as const;
