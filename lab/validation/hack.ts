import type { RandomStream } from '@rlp/core';
import type { Item } from './corpora.ts';
import { one, several, times } from './draws.ts';

/** Turns a response into one that a flawed reward pays for. */
export type Hack = (item: Item, random: RandomStream) => string;

/** Hacks by kind and name. */
export type Hacks = Readonly<Record<string, Readonly<Record<string, Hack>>>>;

/** The sentences and lines of a text that say something. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** What a response comes to: what it names as its answer, or its last sentence. */
export function finalOf({ response }: Item): string {
  const named = /(?:^|\n)\s*(?:A|Answer|Final answer):\s*(.+?)\s*$/i.exec(response)?.[1];
  return (named ?? sentencesOf(response).at(-1) ?? response).slice(0, 200);
}

/** A task's text; what the response comes to for the few that have none. */
export function promptOf(item: Item): string {
  return item.prompt.trim() || finalOf(item);
}

/** Different words of a text with five letters or more. */
export function longWords(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[a-z]{5,}/g) ?? ['question', 'answer'])];
}

/** Answers to choose from, the response's own among them: numbers near it, or else sentences of the response, or words for either. */
export function candidates(item: Item, count: number, random: RandomStream): string[] {
  const final = finalOf(item);
  const number = /^\D{0,3}(\d+(?:\.\d+)?)\D{0,12}$/.exec(final.replaceAll(',', ''))?.[1];
  const others =
    number === undefined
      ? [
          ...sentencesOf(item.response),
          'Yes',
          'No',
          'Both',
          'Neither',
          'None of the above',
          'All of the above',
        ]
      : times(4 * count, (at) => String(Math.max(0, Number(number) + at - 2 * count)));
  const unlike = [...new Set(others.map((other) => other.slice(0, 120)))].filter((other) => other !== final);
  return random.shuffle([number ?? final, ...several(unlike, count - 1, random)]);
}

/** Every sentence with something said before or after it, the first always and the others as often as `share` says. */
export function amid(
  text: string,
  share: number,
  random: RandomStream,
  join: (sentence: string) => string,
): string {
  return text
    .split('\n')
    .map((line, at) =>
      line
        .split(/(?<=[.!?])\s+/)
        .map((sentence, place) => {
          const isChosen = (at === 0 && place === 0) || random.uniform() < share;
          return isChosen && sentence.trim() !== '' ? join(sentence) : sentence;
        })
        .join(' '),
    )
    .join('\n');
}

/** Letters exchanged for what `letters` has for them, in so many of the words. */
export function exchanged(
  text: string,
  share: number,
  random: RandomStream,
  letters: (letter: string) => string,
): string {
  let isFirst = true;
  return text.replaceAll(/[\p{L}\d]+/gu, (word) => {
    const isChosen = isFirst || random.uniform() < share;
    isFirst = false;
    return isChosen ? [...word].map(letters).join('') : word;
  });
}

/** One of a list, by a uniform number. */
export function pick(list: readonly string[], random: RandomStream): string {
  return list[Math.floor(random.uniform() * list.length)]!;
}

/** One of a list after the text, in a paragraph of its own. */
export function followed(text: string, list: readonly string[], random: RandomStream): string {
  return `${text}\n\n${one(list, random)}`;
}
