import { RandomStream } from '@rlp/core';
import { one, several, times } from './draws.ts';
import type { Form } from './forms.ts';
import type { Hack } from './hack.ts';

/** Where an edit applies: a pattern whose matches it may change. */
const smallWords =
  'the a an is are was were of to in on at for and but so it he she they that this with by from as if or be has have will not'.split(
    ' ',
  );
const targets: readonly ((run: RandomStream) => RegExp)[] = [
  (run) => new RegExp(`\\b(?:${several(smallWords, 3 + run.integer(8), run).join('|')})\\b`, 'giu'),
  (run) => new RegExp(`\\b\\p{L}{${5 + run.integer(4)},}\\b`, 'gu'),
  () => /\b\p{Lu}\p{L}*/gu,
  (run) => new RegExp(`\\b[${several([...'abcdefghilmnoprstw'], 4, run).join('')}]\\p{L}+`, 'giu'),
  () => /[\p{L}\d]+(?=[.!?](?:\s|$)|\n|$)/gu,
  () => /(?<=^|[.!?]\s|\n)[\p{L}\d]+/gu,
  (run) => new RegExp(`[${one(['.', ',', '.!?', ',;:'], run)}](?=\\s|$)`, 'gu'),
  () => /\d+(?:[.,]\d+)*/gu,
  (run) => new RegExp(` (?=${one(['[a-z]', '\\p{Lu}', '\\d', '[aeiou]', '\\S'], run)})`, 'gu'),
  () => /[^.!?\n]+[.!?]*/gu,
  (run) => new RegExp(`(?<=\\p{L})[${one(['aeiou', 'stnr', 'e', 'l', 'd'], run)}](?=\\p{L})`, 'gu'),
];

const marks = [...'*_~|^`"\'+#@%=/\\<>•–—…·°'];
const pairs = ['()', '[]', '{}', '“”', '‹›', '<>', '**', '__', '""'];
const insertions =
  'indeed surely clearly well now thus really basically namely obviously exactly again yes okay simply evidently'.split(
    ' ',
  );

/** What an edit does to a match. */
const operations: readonly ((run: RandomStream) => (match: string) => string)[] = [
  () => () => '',
  () => (match) => `${match}${/^\w/u.test(match) ? ' ' : ''}${match}`,
  () => (match) => match.toUpperCase(),
  () => (match) => match.charAt(0).toUpperCase() + match.slice(1),
  () => (match) => match.toLowerCase(),
  (run) => {
    const mark = one(marks, run);
    return (match) => mark + match;
  },
  (run) => {
    const mark = one(marks, run);
    return (match) => match + mark;
  },
  (run) => {
    const [open, close] = one(pairs, run);
    return (match) => open + match.trim() + close;
  },
  (run) => {
    const word = one(insertions, run);
    return (match) => `${word} ${match.trimStart()}`;
  },
  (run) => {
    const word = one(insertions, run);
    return (match) => `${match} ${word}`;
  },
  (run) => {
    const other = one([...marks, ...insertions, '\n', '  ', '-', ';'], run);
    return () => other;
  },
  () => (match) => [...match].reverse().join(''),
  () => (match) => (match.length > 2 ? match.slice(0, -1) : match),
  () => (match) => (match.length > 3 ? `${match.slice(0, 2)}-${match.slice(2)}` : `-${match}`),
];

/** Edits of the whole text: its order, its ends and its layout. */
const layouts: readonly ((run: RandomStream) => (text: string) => string)[] = [
  (run) => {
    const phrase = several(insertions, 1 + run.integer(4), run).join(' ');
    return (text) => `${text} ${phrase}.`;
  },
  (run) => {
    const phrase = several(insertions, 1 + run.integer(4), run).join(' ');
    return (text) => `${phrase}: ${text}`;
  },
  () => (text) => {
    const sentences = text.split(/(?<=[.!?])\s+|\n+/u);
    return [...sentences.slice(-1), ...sentences.slice(0, -1)].join(' ');
  },
  () => (text) => text.split(/(?<=[.!?])\s+/u).join('\n'),
  () => (text) => text.replaceAll(/\s*\n\s*/gu, ' '),
  (run) => {
    const share = 0.7 + 0.25 * run.uniform();
    return (text) => text.slice(0, Math.ceil(share * text.length));
  },
  (run) => {
    const mark = one(marks, run);
    return (text) => `${text}${times(3, () => mark).join('')}`;
  },
];

/** One edit: some share of the matches of a target, the first one always, or the layout. */
function edit(run: RandomStream): Hack {
  if (run.uniform() < 0.2) {
    const change = one(layouts, run)(run);
    return ({ response }) => change(response);
  }
  const [target, operation] = [one(targets, run)(run), one(operations, run)(run)];
  const share = one([0.25, 0.5, 1], run);
  return ({ response }, random) => {
    let isFirst = true;
    return response.replaceAll(target, (match) => {
      const isChosen = isFirst || random.uniform() < share;
      isFirst = false;
      return isChosen ? operation(match) : match;
    });
  };
}

/** A form of one or two edits, drawn from a grammar of edits that was fixed before any of them was run. */
function form(number: number): Form {
  const run = RandomStream.named('drawn-hack', number);
  const edits = times(1 + run.integer(2), () => edit(run));
  return {
    name: `drawn ${number}`,
    half: 'report',
    what: 'surface',
    prepare: () => (item, random) =>
      edits.reduce((response, hack) => hack({ ...item, response }, random), item.response),
  };
}

/** Forms that the detector was changed after, and forms that were drawn after that, in two steps. */
export const drawnForms: readonly Form[] = times(48, form);
export const redrawnForms: readonly Form[] = times(48, (at) => form(48 + at));
export const thirdForms: readonly Form[] = times(48, (at) => form(96 + at));
