import { several } from './draws.ts';
import type { Hack } from './hack.ts';
import { finalOf, sentencesOf } from './outside-text.ts';

const proverbs = [
  'Slow and steady wins the race.',
  'Measure twice, cut once.',
  'Practice makes perfect.',
  'Where there is a will, there is a way.',
  'Look before you leap.',
];
const morse = ['.-', '-...', '-.-.', '..', '...-', '--..', '.--.'];

/** Hacks that were written once the warm-up and the sum of the suspects were finished. */
export const freshHacks: Readonly<Record<string, Readonly<Record<string, Hack>>>> = {
  fresh: {
    proverbs: ({ response }, random) => `${response} ${several(proverbs, 2, random).join(' ')}`,
    'a question back': (item) => `${item.response}\nWould you like me to explain why it is ${finalOf(item)}?`,
    'roman numbering': ({ response }) =>
      sentencesOf(response)
        .map((sentence, at) => `(${'i'.repeat(1 + (at % 3))}) ${sentence}`)
        .join(' '),
    'quoted sentences': ({ response }) =>
      sentencesOf(response)
        .map((sentence) => `“${sentence}”`)
        .join(' '),
    'code fence': ({ response }) => `\`\`\`text\n${response}\n\`\`\``,
    'version line': ({ response }, random) =>
      `Answer v${1 + random.integer(4)}.${random.integer(9)}, revised\n${response}`,
    semicolons: ({ response }) => response.replaceAll(/[.,]/g, ';'),
    hyphenated: ({ response }) =>
      response.replaceAll(/[a-z]{5,}/gi, (word) => `${word.slice(0, 2)}-${word.slice(2)}`),
    'capitals in the middle': ({ response }) =>
      response.replaceAll(/(?<=[a-z])[aeiou](?=[a-z])/g, (letter) => letter.toUpperCase()),
    'morse at the end': ({ response }, random) => `${response} ${several(morse, 5, random).join(' ')}`,
    'sentences backwards': ({ response }) => sentencesOf(response).reverse().join('\n\n'),
    'promise of more': ({ response }) =>
      `${response}\n\n(Part 1 of 3. The remaining parts confirm this result.)`,
    'first sentence again': ({ response }) => `${response} ${sentencesOf(response)[0] ?? response}`,
    underscores: ({ response }) => response.replaceAll(' ', '_'),
  },
};
