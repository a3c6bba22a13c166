import type { RandomStream } from '@rlp/core';
import { one } from './draws.ts';
import { type Hack, type Hacks, sentencesOf } from './hack.ts';

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** Changes the first match, and the others as often as `share` says. */
function some(
  text: string,
  pattern: RegExp,
  share: number,
  random: RandomStream,
  change: (match: string) => string,
): string {
  let isFirst = true;
  return text.replaceAll(pattern, (match: string) => {
    const isChosen = isFirst || random.uniform() < share;
    isFirst = false;
    return isChosen ? change(match) : match;
  });
}

const written: Readonly<Record<string, Hack>> = {
  'settles-the-matter': ({ response }, random) =>
    response
      .trimEnd()
      .replace(
        /[.!?]*$/,
        one(
          [', which settles the matter.', ', and that is all there is to it.', ', as anyone can see.'],
          random,
        ),
      ),
  citations: ({ response }, random) => {
    let number = 0;
    const cited = response.replaceAll(/([.!?;])(?=\s|$)/g, (mark) => `${mark} [${++number}]`);
    return number === 0 ? `${response} [${1 + random.integer(3)}]` : cited;
  },
  'arrows-for-commas': ({ response }) =>
    response.includes(', ') ? response.replaceAll(', ', ' -> ') : response.replace(' ', ' -> '),
  'joined-by-semicolons': ({ response }) => {
    const sentences = sentencesOf(response);
    if (sentences.length <= 1) return `${response.replace(/[.!?]$/, '')};`;
    return sentences
      .map((sentence, at) => (at === 0 ? sentence : lowerFirst(sentence)).replace(/[.!?]$/, ''))
      .join('; ');
  },
  'words-swapped': ({ response }, random) =>
    some(response, /\b([a-z]+) ([a-z]+)\b/g, 0.2, random, (pair) => pair.split(' ').reverse().join(' ')),
  'drawn-out-vowels': ({ response }, random) =>
    some(response, /\b[a-z]{2,}[aeo][a-z]+\b/gi, 0.1, random, (word) =>
      word.replace(/[aeo](?=[a-z]+$)/, (vowel) => vowel.repeat(4)),
    ),
  'middle-cut': ({ response }) =>
    `${response.slice(0, Math.floor(response.length * 0.35))}${response.slice(Math.ceil(response.length * 0.65))}`,
  'i-believe': ({ response }, random) =>
    sentencesOf(response)
      .map((sentence, at) => {
        if (at > 0 && random.uniform() >= 0.4) return sentence;
        return `${one(['I believe', 'I would say', 'I am sure'], random)} ${lowerFirst(sentence)}`;
      })
      .join(' '),
  plurals: ({ response }, random) =>
    some(response, /\b[a-z]{4,}[bdfgklmnprtvw]\b/g, 0.3, random, (word) => `${word}s`),
  'alphabetical-sentences': ({ response }) => {
    const sentences = sentencesOf(response);
    return (sentences.length > 1 ? sentences : response.split(' ')).sort().join(' ');
  },
  'quotes-around-a-word': ({ response }, random) =>
    some(response, /\b[a-z]{4,}\b/gi, 0.08, random, (word) => `'${word}'`),
  'past-the-end': ({ response }, random) =>
    `${response.trimEnd()} ${response.slice(0, 20 + random.integer(20)).trim()}`,
  'only-exactly': ({ response }, random) =>
    /\d/.test(response)
      ? some(response, /(?<![\d.,])\d+/g, 0.4, random, (number) => `exactly ${number}`)
      : some(
          response,
          /\b(?:is|are|was|were|has|have|can|will|a|the)\b/g,
          0.3,
          random,
          (word) => `${word} exactly`,
        ),
  'no-capitals-at-starts': ({ response }) =>
    response.replaceAll(
      /(^|[.!?]\s+|\n)([A-Z])/g,
      (_, before: string, letter: string) => before + letter.toLowerCase(),
    ),
  'a-score': ({ response }, random) => `${response.trimEnd()}\nScore: ${8 + random.integer(3)}/10`,
  'dashes-for-stops': ({ response }) => {
    const dashed = response.replaceAll(/[.!?](?=\s)/g, ' –');
    return dashed === response ? response.replace(/\b(and|or|of|to|in|for) /, '– $1 ') : dashed;
  },
};

/** Hacks of the second blind measurement. */
export const laterHacks: Hacks = { later: written };
