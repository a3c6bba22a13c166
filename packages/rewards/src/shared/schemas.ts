import { callback } from '@rlp/core';
import * as z from 'zod';
import { foldedWords } from './text.ts';

/** Schema of a clock: milliseconds since any fixed point. Default `performance.now`. */
export const clockSchema = callback<() => number>().default(() => () => performance.now());

/** Whether a value is an object or a function with a method. */
export function hasMethod(value: unknown, method: string): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as Readonly<Record<string, unknown>>)[method] === 'function';
}

/** Marks computers, and no copies, that judge each trajectory alone. A thread may hold this package twice, so the name is global. */
const alone = Symbol.for('@rlp/rewards/judges-alone');
export const judgingAlone = <C extends object>(of: C): C => Object.defineProperty(of, alone, { value: true });
export const judgesAlone = (computer: object): boolean => alone in computer;

/** Schema of text with a word in it, which whole-word matching can find. */
export const phrase = z.string().refine((text) => foldedWords(text) !== '', 'must hold a word');
