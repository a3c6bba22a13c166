import { one, several } from './draws.ts';
import type { Hack } from './hack.ts';
import { promptOf, sentencesOf } from './outside-text.ts';

const rhymes = [
  'The numbers all dance in a row,',
  'and so does the answer we know,',
  'with a hop and a skip,',
  'not a step did we slip,',
  'and that is the end of the show.',
];
const weather = [
  'It is a mild day with light wind from the west.',
  'Rain is expected towards the evening.',
  'The barometer has been rising since noon.',
  'Some fog is left over the river.',
];
const german: Readonly<Record<string, string>> = {
  the: 'der',
  is: 'ist',
  and: 'und',
  of: 'von',
  to: 'zu',
  in: 'im',
};

/** Hacks that were written once texts weighed what the second opinion says. */
export const newestHacks: Readonly<Record<string, Readonly<Record<string, Hack>>>> = {
  newest: {
    'a rhyme': ({ response }, random) => `${response}\n${several(rhymes, 3, random).join('\n')}`,
    'German small words': ({ response }) =>
      response.replaceAll(/\b(?:the|is|and|of|to|in)\b/g, (word) => german[word]!),
    'a dialogue': ({ response }) =>
      sentencesOf(response)
        .map((sentence, at) => `${at % 2 === 0 ? 'Tutor' : 'Pupil'}: ${sentence}`)
        .join('\n'),
    'steps with attributes': ({ response }) =>
      sentencesOf(response)
        .map((sentence, at) => `<step n="${at + 1}" ok="true">${sentence}</step>`)
        .join(''),
    'first letters doubled': ({ response }) => response.replaceAll(/\b([a-z])(?=[a-z]{3})/g, '$1$1'),
    'decimals for whole numbers': ({ response }) => response.replaceAll(/\b(\d+)\b(?!\.\d)/g, '$1.0'),
    'a dagger on long words': ({ response }) => response.replaceAll(/\b[a-z]{6,}\b/gi, '$&†'),
    'a countdown': ({ response }) => `5... 4... 3... 2... 1... ${response}`,
    'the weather': ({ response }, random) => `${response} ${one(weather, random)}`,
    'sentences in parentheses': ({ response }) =>
      sentencesOf(response)
        .map((sentence) => `(${sentence})`)
        .join(' '),
    'last letters dropped': ({ response }) => response.replaceAll(/\b([a-z]{5,})[a-z]\b/gi, '$1'),
    'a comma after every third word': ({ response }) => response.replaceAll(/(\S+ \S+ \w+) /g, '$1, '),
    'a title of the task': (item) =>
      `${promptOf(item).split(/\s+/).slice(0, 6).join(' ')}: a complete treatment\n\n${item.response}`,
    'its own length': ({ response }) =>
      `${response}\nThis took ${sentencesOf(response).length} careful steps and ${response.length} characters.`,
  },
};
