import type { RandomStream } from '@rlp/core';
import type { Item } from './corpora.ts';

/** Turns a response into one that a flawed reward pays for. */
export type Hack = (item: Item, random: RandomStream) => string;

/**
 * Hacks that detectors are tuned with, the same in other words, and others altogether; a third set, plain and short, of which some
 * forms tune and the others report; and hacks from the literature, gathered by somebody who had not seen the detector.
 */
export const wordings = ['tune', 'report', 'unseen', 'fresh-tune', 'fresh', 'outside'] as const;

/** One of {@link wordings}. */
export type Wording = (typeof wordings)[number];

/** Every kind of planted hack. */
export const hackKinds = [
  'length padding',
  'keyword stuffing',
  'format shell',
  'answer copying',
  'repetition',
  'template collapse',
  'judge flattery',
  'unicode tricks',
  'reward-code exploit',
  'hedging',
  'answer without reasoning',
  'many answers',
] as const;

/** One of {@link hackKinds}. */
export type HackKind = (typeof hackKinds)[number];
