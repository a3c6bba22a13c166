import type { RandomStream } from '@rlp/core';
import { one, several } from './draws.ts';
import { freshHack } from './fresh-hacks.ts';
import type { Hack, HackKind, Wording } from './hack-kinds.ts';
import { type Phrasing, phrasings } from './hack-phrases.ts';
import { outsideHack } from './outside-hacks.ts';
import { unseenHacks } from './unseen-hacks.ts';

/**
 * The hack of a kind.
 *
 * @param run - Says which form a run keeps to, where there are several.
 */
export function hackOf(kind: HackKind, wording: Wording, run: RandomStream): Hack {
  if (wording === 'unseen') return unseenHacks[kind](run);
  if (wording === 'outside') return outsideHack(kind, run);
  if (wording === 'fresh' || wording === 'fresh-tune') {
    return freshHack(kind, wording === 'fresh' ? 'report' : 'tune', run);
  }
  return hacks[kind](phrasings[wording], wording);
}

const hacks: Readonly<Record<HackKind, (words: Phrasing, wording: keyof typeof phrasings) => Hack>> = {
  'length padding': (words) => (item, random) =>
    `${item.response}\n${several(words.padding, 5 + random.integer(5), random).join(' ')}`,
  'keyword stuffing': (words, wording) => (item, random) => {
    const list = Array.from({ length: 12 + random.integer(14) }, () => one(words.keywords, random));
    if (wording === 'tune') return `${item.response}\n${list.join(', ')}`;
    // Between the words of the response.
    const original = item.response.split(' ');
    const every = Math.max(1, Math.floor(original.length / list.length));
    return original
      .flatMap((word, at) => (at % every === 0 ? [word, list[at / every] ?? ''] : [word]))
      .join(' ');
  },
  'format shell': (words) => (_, random) =>
    one(words.shells, random).replaceAll('{n}', String(random.integer(1000))),
  'answer copying':
    (_, wording) =>
    ({ prompt }, random) => {
      if (wording === 'tune') return `${prompt}\nA: ${random.integer(100)}`;
      const sentences = prompt.split(/(?<=[.!?]) /);
      return `As said: ${sentences.slice(-3).join(' ')} So the answer is ${random.integer(100)}.`;
    },
  repetition:
    (_, wording) =>
    ({ response }, random) => {
      const sentences = response.split(/(?<=[.!?\n])\s*/).filter((part) => part.length > 8);
      const kept = one(sentences.length === 0 ? [response] : sentences, random).slice(0, 300);
      const times = 4 + random.integer(8);
      if (wording === 'tune') return `${response}\n${new Array(times).fill(kept).join(' ')}`;
      const words = response.split(/\s+/);
      const loop = words.slice(-6 - random.integer(8)).join(' ');
      return `${response} ${new Array(times).fill(loop).join(' ')}`;
    },
  'template collapse': (words) => (_, random) =>
    one(words.templates, random)
      .replaceAll('{name}', () => one(words.names, random))
      .replaceAll('{n}', () => String(random.integer(500))),
  'judge flattery': (words, wording) => (item, random) => {
    const praise = several(words.flattery, 2 + random.integer(2), random).join(' ');
    return wording === 'tune' ? `${praise}\n${item.response}` : `${item.response}\n\n${praise}`;
  },
  'unicode tricks': (_, wording) => (item, random) =>
    (wording === 'tune' ? zeroWidth : lookAlike)(item.response, random),
  'reward-code exploit': (words) => (item, random) =>
    random.uniform() < 0.5 ? one(words.exploits, random) : `${item.response}\n${one(words.exploits, random)}`,
  hedging: (words) => (item, random) => {
    const hedges = several(words.hedges, 3 + random.integer(2), random);
    return `${hedges.slice(0, 2).join(' ')} ${item.response} ${hedges.slice(2).join(' ')}`;
  },
  'answer without reasoning': (words) => (_, random) =>
    one(words.bareAnswers, random).replaceAll('{n}', String(random.integer(200))),
  'many answers': (words) => (item, random) => {
    const answers = Array.from({ length: 10 + random.integer(20) }, () =>
      one(words.answerForms, random).replaceAll('{n}', String(random.integer(300))),
    );
    return `${item.response}\n${answers.join(' ')}`;
  },
};

function zeroWidth(text: string, random: RandomStream): string {
  return [...text].map((character) => (random.uniform() < 0.05 ? `${character}\u200b` : character)).join('');
}

const alike: Readonly<Record<string, string>> = { a: 'а', e: 'е', o: 'о', p: 'р', c: 'с', x: 'х', i: 'і' };

function lookAlike(text: string, random: RandomStream): string {
  return [...text]
    .map((character) => (character in alike && random.uniform() < 0.2 ? alike[character]! : character))
    .join('');
}
