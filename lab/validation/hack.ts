import type { RandomStream } from '@rlp/core';
import type { Item } from './corpora.ts';

/** Turns a response into one that a flawed reward pays for. */
export type Hack = (item: Item, random: RandomStream) => string;
