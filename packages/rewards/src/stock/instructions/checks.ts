import { ink } from '@rlp/answers/text';
import * as z from 'zod';
import type { LanguageDetector } from '../../shared/language-detector.ts';
import { looseText, spelledText, withHumpsParted, withoutParting } from '../../shared/plain-text.ts';

import { countMatches, occurrencesOf, withoutFence } from '../../shared/text.ts';
import { textLength } from '../text/length-shaping.ts';
import { countSentences } from './sentences.ts';
import {
  choosesOnce,
  compare,
  countBracketed,
  countCapitalWords,
  countHighlights,
  escaped,
  filledPieces,
  firstWord,
  hasTitle,
  hasWord,
  isLower,
  isUpper,
  withoutQuotesAround,
} from './text-tools.ts';

/** A kind of instruction: what its arguments are, and whether a response follows it. */
export interface InstructionCheck {
  /** Whether the check asks for the language of the response. */
  readonly needsLanguage: boolean;
  /** Schema of the arguments. */
  readonly args: z.ZodType;
  /** @param args - Parsed by the schema. */
  follows(response: string, args: unknown, language: LanguageDetector): boolean;
}

function check<Shape extends z.ZodRawShape>(
  shape: Shape,
  follows: (response: string, args: z.output<z.ZodObject<Shape>>, language: LanguageDetector) => boolean,
  needsLanguage = false,
): InstructionCheck {
  type Args = z.output<z.ZodObject<Shape>>;
  return {
    needsLanguage,
    args: z.object(shape),
    follows: (response, args, language) => follows(response, args as Args, language),
  };
}

/** Marks that end a sentence and stand alone. */
const blank = /(^|\s)[.?!]+(?=\s|$)/g;

const count = z.int().nonnegative();
const relation = z.enum(['less than', 'at least']);
type Relation = z.output<typeof relation>;
const word = z.string().trim().min(1);

/** Commas of all scripts, by their Unicode names or HTML numbers, and what looks like one (`\u201a`, `\u02cf`, `\ua4f9`, a lone cedilla). */
const comma =
  /[,\u00b8\u02cf\u055d\u060c\u07f8\u1363\u1802\u1808\u201a\u2e32\u2e34\u2e41\u2e49\u2e4c\u2e4e\u3001\ua4f9\ua4fe\ua60d\ua6f5\ufe10\ufe11\ufe50\ufe51\uff0c\uff64\u{1144d}\u{16e97}\u{1da87}]|&(?:#0*44|#x0*2c|comma);/iu;

/** What the reference checker does where a language cannot be told: it counts as followed. */
const isIn = (language: LanguageDetector, text: string, code: string) => (language(text) ?? code) === code;

const inEnglish = (holds: (text: string) => boolean) =>
  check({}, (text, _, language) => holds(text) && isIn(language, text, 'en'), true);

const compareOccurrences = (by: Relation, text: string, part: string, threshold: number) =>
  compare(by, occurrencesOf(text.toLowerCase(), part.toLowerCase()), threshold);

/** Every kind of instruction of IFEval, by its name. */
export const instructionChecks: Readonly<Record<string, InstructionCheck>> = {
  'change_case:capital_word_frequency': check(
    { capital_relation: relation, capital_frequency: count },
    (text, args) => compare(args.capital_relation, countCapitalWords(text), args.capital_frequency),
  ),
  'change_case:english_capital': inEnglish(isUpper),
  'change_case:english_lowercase': inEnglish(isLower),
  'combination:repeat_prompt': check({ prompt_to_repeat: word }, (text, args) =>
    text.trim().toLowerCase().startsWith(args.prompt_to_repeat.toLowerCase()),
  ),
  'combination:two_responses': check({}, (text) => {
    const pieces = filledPieces(text.split('******'));
    return pieces?.length === 2 && pieces[0]!.trim() !== pieces[1]!.trim();
  }),
  'detectable_content:number_placeholders': check(
    { num_placeholders: count },
    (text, args) => countBracketed(text) >= args.num_placeholders,
  ),
  'detectable_content:postscript': check(
    { postscript_marker: word },
    (text, { postscript_marker: marker }) => {
      const forms: Readonly<Record<string, RegExp>> = { 'P.P.S': /p\.\s?p\.\s?s/, 'P.S.': /p\.\s?s\./ };
      const [, ...behind] = text.toLowerCase().split(forms[marker] ?? marker.toLowerCase());
      return behind.some((part) => /[\p{L}\p{N}]/u.test(part));
    },
  ),
  'detectable_format:constrained_response': check({}, choosesOnce),
  'detectable_format:json_format': check({}, (text) => {
    try {
      JSON.parse(withoutFence(text));
      return true;
    } catch {
      return false;
    }
  }),
  'detectable_format:multiple_sections': check(
    { section_spliter: word, num_sections: count },
    (text, args) => {
      const [, ...sections] = text.split(new RegExp(`${escaped(args.section_spliter)}\\s?\\d+`));
      return sections.filter((section) => /[\p{L}\p{N}]/u.test(section)).length >= args.num_sections;
    },
  ),
  'detectable_format:number_bullet_lists': check(
    { num_bullets: count },
    (text, args) =>
      countMatches(text, /^[^\S\n]*\*[^*]/gm) + countMatches(text, /^[^\S\n]*-/gm) === args.num_bullets &&
      (text.match(/^[^\S\n]*[*-](?![*-]).*/gm) ?? []).every((line) => ink.test(line.replace(/[*-]/, ''))),
  ),
  'detectable_format:number_highlighted_sections': check(
    { num_highlights: count },
    (text, args) => countHighlights(text) >= args.num_highlights,
  ),
  'detectable_format:title': check({}, hasTitle),
  'keywords:existence': check({ keywords: z.array(word).min(1) }, (text, args) => {
    const lower = text.toLowerCase();
    return args.keywords.every((keyword) => lower.includes(keyword.toLowerCase()));
  }),
  'keywords:forbidden_words': check({ forbidden_words: z.array(word).min(1) }, (text, args) => {
    const lower = text.toLowerCase();
    const flat = lower.replace(/[\s|]+/g, ' ');
    const readings = [lower, spelledText(flat).text, withoutParting(lower)];
    return args.forbidden_words.every((given) => {
      const word = given.toLowerCase();
      const letters = Array.from(word).join(' ');
      // In short words a digit may be a number: `1s`.
      const all = word.length < 4 ? readings : [...readings, looseText(lower)];
      return !hasWord(flat, letters) && !all.some((reading) => hasWord(reading, word));
    });
  }),
  'keywords:frequency': check({ relation, keyword: word, frequency: count }, (text, args) =>
    compareOccurrences(args.relation, text, args.keyword, args.frequency),
  ),
  'keywords:letter_frequency': check(
    { let_relation: relation, letter: z.string().length(1), let_frequency: count },
    (text, args) => compareOccurrences(args.let_relation, text, args.letter, args.let_frequency),
  ),
  'language:response_language': check(
    { language: word },
    (text, args, language) => isIn(language, text, args.language),
    true,
  ),
  'length_constraints:nth_paragraph_first_word': check(
    { first_word: word, num_paragraphs: count, nth_paragraph: z.int().positive() },
    (text, args) => {
      const paragraphs = text.split('\n\n');
      const filled = paragraphs.filter((paragraph) => paragraph.trim() !== '').length;
      if (filled !== args.num_paragraphs || args.nth_paragraph > filled) return false;
      return firstWord(paragraphs[args.nth_paragraph - 1]!) === args.first_word.toLowerCase();
    },
  ),
  'length_constraints:number_paragraphs': check(
    { num_paragraphs: count },
    (text, args) => filledPieces(text.split('***'))?.length === args.num_paragraphs,
  ),
  'length_constraints:number_sentences': check({ relation, num_sentences: count }, (text, args) =>
    compare(args.relation, countSentences(text.replace(blank, '$1')), args.num_sentences),
  ),
  // The reference checker takes a low line for a letter.
  'length_constraints:number_words': check({ relation, num_words: count }, (text, args) =>
    [text, text.replaceAll('_', ' '), withHumpsParted(text)].every((one) =>
      compare(args.relation, textLength(one, 'alphanumeric'), args.num_words),
    ),
  ),
  'punctuation:no_comma': check({}, (text) => !comma.test(text)),
  'startend:end_checker': check({ end_phrase: word }, (text, args) =>
    withoutQuotesAround(text.trim()).toLowerCase().endsWith(args.end_phrase.toLowerCase()),
  ),
  'startend:quotation': check({}, (text) => {
    const trimmed = text.trim();
    return ink.test(trimmed.slice(1, -1)) && trimmed.startsWith('"') && trimmed.endsWith('"');
  }),
};
