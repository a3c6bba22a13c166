import type { RandomStream } from '@rlp/core';
import type { Item } from './corpora.ts';
import type { Hack } from './hack.ts';
import { moreHacks } from './more-hacks.ts';
import { outsideHacks } from './outside-hacks.ts';
import { sentencesOf } from './outside-text.ts';

/** The half that the detector was built with, and the half that is reported. */
export type Half = 'build' | 'report';

/** One way to cheat. A run keeps to it. */
export interface Form {
  readonly name: string;
  readonly half: Half;
  /** `'surface'` shows in the text. `'semantic'` does not. */
  readonly what: 'surface' | 'semantic';
  /** The hack of a run. @param items - Responses of the corpus. */
  readonly prepare: (items: readonly Item[], run: RandomStream) => Hack;
}

/** Forms that need other responses of the corpus. */
const ofCorpus: readonly Omit<Form, 'half'>[] = [
  { name: 'collapse: five answers', what: 'surface', prepare: collapse(5) },
  { name: 'collapse: one answer', what: 'surface', prepare: collapse(1) },
  { name: 'collapse: twelve answers', what: 'surface', prepare: collapse(12) },
  { name: 'collapse: two answers', what: 'surface', prepare: collapse(2) },
  {
    name: "semantic: another task's answer",
    what: 'semantic',
    prepare: (items) => (_, random) => items[random.integer(items.length)]!.response,
  },
  {
    name: 'semantic: wrong numbers',
    what: 'semantic',
    prepare:
      () =>
      ({ response }, random) =>
        response.replaceAll(/\d+/g, (number) => String(Number(number) + 1 + random.integer(9))),
  },
  {
    name: 'semantic: sentences in another order',
    what: 'semantic',
    prepare:
      () =>
      ({ response }, random) =>
        random.shuffle(sentencesOf(response)).join(' '),
  },
  {
    name: 'semantic: names exchanged',
    what: 'semantic',
    prepare:
      () =>
      ({ response }) =>
        response.replaceAll(/\b[A-Z][a-z]{2,}\b/g, 'Marie'),
  },
];

/** All forms. Within each kind every second one builds. */
export const forms: readonly Form[] = [
  ...[outsideHacks, moreHacks].flatMap((kinds) =>
    Object.entries(kinds).flatMap(([kind, named]) =>
      Object.entries(named).map(
        ([name, hack], at): Form => ({
          name: `${kind}: ${name}`,
          half: halfOf(at),
          what: 'surface',
          prepare: () => hack,
        }),
      ),
    ),
  ),
  ...ofCorpus.map((form, at): Form => ({ ...form, half: halfOf(at) })),
];

function halfOf(at: number): Half {
  return at % 2 === 0 ? 'build' : 'report';
}

/** A handful of genuine answers for every task. */
function collapse(count: number): Form['prepare'] {
  return (items, run) => {
    const few = run.shuffle(items).slice(0, count);
    return (_, random) => few[random.integer(few.length)]!.response;
  };
}
