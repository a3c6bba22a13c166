import type { RandomStream } from '@rlp/core';

/** One of a list. */
export function one<Value>(list: readonly Value[], random: RandomStream): Value {
  return list[random.integer(list.length)]!;
}

/** So many different ones of a list, in any order. */
export function several(list: readonly string[], count: number, random: RandomStream): string[] {
  return random.shuffle(list).slice(0, count);
}

/** What is made for each number below `count`. */
export function times<Value>(count: number, make: (at: number) => Value): Value[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
