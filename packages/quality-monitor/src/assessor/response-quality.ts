import type { HashSet } from '../text/hash-set.ts';
import type { ReadText } from '../text/read-text.ts';
import { exactSignature, type Sequences } from '../text/sequences.ts';
import type { TextReader } from '../text/text-reader.ts';
import { coherenceOf } from './coherence.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import type { ShapeReader } from './response-shape.ts';

/** Quality of one response. */
export interface ResponseQuality {
  readonly words: number;
  readonly shape: 'formatted' | 'unformatted';
  readonly hasReasoningTags: boolean;
  /** Text between the reasoning tags, trimmed. Empty without them. */
  readonly reasoning: string;
  /** In code points. */
  readonly reasoningLength: number;
  readonly answerLength: number;
  /** In 0–1. */
  readonly repetition: number;
  /** In 0–1. `undefined` if the option `coherence` failed. */
  readonly coherence: number | undefined;
  /** Missing tags or next to no content. Without tags: no letter and no digit. */
  readonly isEmpty: boolean;
  /** Formatted with worthless content. */
  readonly isGaming: boolean;
  /** Of those, trivial, repetitive or without a word, and not only short. */
  readonly isWorthless: boolean;
  /** Length of the reasoning, or of the whole text if it is not formatted. */
  readonly contentLength: number;
  /** Reasoning below 20 characters or a short answer, formatted or not. */
  readonly isShort: boolean;
}

/** Reused objects for judging responses. */
export interface QualityTools {
  readonly options: ResolvedAssessorOptions;
  readonly readShape: ShapeReader;
  readonly sequences: Sequences;
  /** Collects every word. */
  readonly vocabulary: HashSet;
  /** Reads reasoning that may repeat itself. */
  readonly texts: TextReader;
  readonly part: ReadText;
  /** Collects errors of the option `coherence`. */
  readonly faults: string[];
}

const minimumReasoning = 20;
const minimumAnswer = 2;
const trivialWords = new Set(['n/a', 'none', 'idk', '...', 'thinking']);

/**
 * Judges a response.
 *
 * @param signature - Receives the signature.
 */
export function responseQuality(
  response: string,
  text: ReadText,
  tools: QualityTools,
  signature: Uint32Array,
): ResponseQuality {
  const { options, sequences } = tools;
  const { reasoning, answer, hasReasoningTags } = tools.readShape(response);
  const { nearDuplicates } = options;
  sequences.read(text, nearDuplicates === 'off' ? undefined : signature);
  if (nearDuplicates === 'off') exactSignature(response, signature);
  for (let at = 0; at < text.chunkCount; at++) tools.vocabulary.add(text.low[at]!, text.high[at]!);
  const repetition =
    options.conventions === 'tunrex'
      ? casedRepetition(response)
      : repetitionScore(lengthOf(response, text), text, sequences);
  const coherence =
    options.coherence === undefined ? coherenceOf(text, repetition) : judgedCoherence(response, tools);
  const isFormatted = reasoning !== undefined && answer !== undefined;
  const reasoningLength = lengthOf(reasoning ?? '', text);
  const answerLength = lengthOf(answer ?? '', text);
  const isShort = reasoningLength < minimumReasoning || isTooShort(answer ?? '', answerLength, options);
  const isPoor = isFormatted && (isTrivial(reasoning, answer) || repeatsItself(reasoning, text, tools));
  return {
    words: text.chunkCount,
    shape: isFormatted ? 'formatted' : 'unformatted',
    hasReasoningTags,
    reasoning: reasoning ?? '',
    reasoningLength,
    answerLength,
    repetition,
    coherence,
    isEmpty:
      options.tags === 'none' ? !hasWord(response) : !isFormatted || reasoningLength < 5 || answerLength < 1,
    isShort,
    isGaming: isFormatted && (isShort || isPoor),
    isWorthless: isPoor || (isFormatted && isShort && !hasWord(reasoning)),
    contentLength: isFormatted ? reasoningLength : lengthOf(response, text),
  };
}

/** Result of the option `coherence`, `undefined` if it fails. */
function judgedCoherence(response: string, { options, faults }: QualityTools): number | undefined {
  try {
    const coherence = options.coherence?.(response);
    if (Number.isFinite(coherence)) return coherence;
    faults.push(`expected a number, got ${coherence}`);
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  return undefined;
}

/** Repetition of three-word sequences. 0 below 10 characters or 5 words. */
function repetitionScore(length: number, { chunkCount }: ReadText, sequences: Sequences): number {
  return length < 10 || chunkCount < 5 ? 0 : sequences.repetition;
}

/** The same as TunRex has it: letter case counts. */
function casedRepetition(text: string): number {
  const words = text.match(/\S+/g) ?? [];
  if ([...text].length < 10 || words.length < 5) return 0;
  const triples = words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`);
  return 1 - new Set(triples).size / triples.length;
}

/** Code points of a part of a text. Without garbled characters the text has no surrogates. */
function lengthOf(part: string, { characters }: ReadText): number {
  if (characters.garbled === 0) return part.length;
  return part.length - (part.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

function isTooShort(
  answer: string,
  length: number,
  { singleCharacterAnswers }: ResolvedAssessorOptions,
): boolean {
  if (length !== 1) return length < minimumAnswer;
  return singleCharacterAnswers === 'reject' || !/[\p{L}\p{N}]/u.test(answer);
}

/** Whether there is a letter or a digit. */
export function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function isTrivial(reasoning: string, answer: string): boolean {
  return [reasoning, answer].some((text) => text.length < 16 && trivialWords.has(text.toLowerCase()));
}

/**
 * Whether over half of a part of a response repeats.
 *
 * `sequences` holds the whole response. Its sequences contain those of the part, except for two at the ends. If too few of them
 * repeat, the part need not be read.
 */
function repeatsItself(part: string, { characters, chunkCount }: ReadText, tools: QualityTools): boolean {
  const { sequences, texts, options } = tools;
  if (options.conventions === 'tunrex') return casedRepetition(part) > 0.5;
  const wordsOutside = (characters.all - part.length) / 2 + 1;
  if (sequences.repeated + 2 <= (chunkCount - wordsOutside - 2) / 2) return false;
  const text = texts.read(part, tools.part);
  sequences.read(text);
  return repetitionScore(lengthOf(part, text), text, sequences) > 0.5;
}
