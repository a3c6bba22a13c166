import type { HashSet } from '../text/hash-set.ts';
import type { ReadText } from '../text/read-text.ts';
import { exactSignature, type Sequences } from '../text/sequences.ts';
import type { TextReader } from '../text/text-reader.ts';
import { coherenceOf } from './coherence.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import type { ShapeReader } from './response-shape.ts';

/** What is found out about one response. */
export interface ResponseQuality {
  readonly words: number;
  readonly shape: 'formatted' | 'unformatted';
  readonly hasReasoningTags: boolean;
  /** In characters (code points), as all lengths. */
  readonly reasoningLength: number;
  readonly answerLength: number;
  /** In 0..1. */
  readonly repetition: number;
  /** In 0..1; `undefined` where the option of that name gave no number. */
  readonly coherence: number | undefined;
  /** Tags missing, or next to nothing between them; where there are to be no tags, neither letter nor digit. */
  readonly isEmpty: boolean;
  /** Formatted, with content that is worth nothing. */
  readonly isGaming: boolean;
  /** Less reasoning than 20 characters or less answer than asked for, tags or not. */
  readonly isShort: boolean;
}

/** What judging a response takes; one set serves all of them. */
export interface QualityTools {
  readonly options: ResolvedAssessorOptions;
  readonly readShape: ShapeReader;
  readonly sequences: Sequences;
  /** Gets every word. */
  readonly vocabulary: HashSet;
  /** For reasoning that is suspected to repeat itself, and room for what is read of it. */
  readonly texts: TextReader;
  readonly part: ReadText;
  /** Gets what the option `coherence` throws, or gives in place of a number. */
  readonly faults: string[];
}

const minimumReasoning = 20;
const minimumAnswer = 2;
const trivialWords = new Set(['n/a', 'none', 'idk', '...', 'thinking']);

/**
 * Judges a response that has been read.
 *
 * @param signature - Gets the response's.
 */
export function responseQuality(
  response: string,
  text: ReadText,
  tools: QualityTools,
  signature: Uint32Array,
): ResponseQuality {
  const { options, sequences } = tools;
  const { reasoning, answer, hasReasoningTags } = tools.readShape(response);
  sequences.read(text);
  for (let at = 0; at < text.chunkCount; at++) tools.vocabulary.add(text.low[at]!, text.high[at]!);
  if (options.nearDuplicates === 'off') exactSignature(response, signature);
  else sequences.signature(signature);
  const repetition = repetitionScore(lengthOf(response, text), text, sequences);
  const coherence =
    options.coherence === undefined ? coherenceOf(text, repetition) : judgedCoherence(response, tools);
  const isFormatted = reasoning !== undefined && answer !== undefined;
  const reasoningLength = lengthOf(reasoning ?? '', text);
  const answerLength = lengthOf(answer ?? '', text);
  const isShort = reasoningLength < minimumReasoning || isTooShort(answer ?? '', answerLength, options);
  return {
    words: text.chunkCount,
    shape: isFormatted ? 'formatted' : 'unformatted',
    hasReasoningTags,
    reasoningLength,
    answerLength,
    repetition,
    coherence,
    isEmpty:
      options.tags === 'none'
        ? !/[\p{L}\p{N}]/u.test(response)
        : !isFormatted || reasoningLength < 5 || answerLength < 1,
    isShort,
    isGaming:
      isFormatted && (isShort || isTrivial(reasoning, answer) || repeatsItself(reasoning, text, tools)),
  };
}

/** What the user's own judge says; one that fails costs its word on this response. */
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

/** Repetition of three-word sequences; texts under 10 characters or 5 words have none. */
function repetitionScore(length: number, { chunkCount }: ReadText, sequences: Sequences): number {
  return length < 10 || chunkCount < 5 ? 0 : sequences.repetition;
}

/** Characters of a part of a text that has been read; halves of pairs are garbled, so where nothing is, every unit is one. */
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

function isTrivial(reasoning: string, answer: string): boolean {
  return [reasoning, answer].some((text) => text.length < 16 && trivialWords.has(text.toLowerCase()));
}

/**
 * Whether over half of a part of a response repeats. The response's own sequences are fresh in `sequences`: those of the part are among
 * them, but for two at its ends, so a response that does not repeat enough has no such part, which need not be read.
 */
function repeatsItself(part: string, { characters, chunkCount }: ReadText, tools: QualityTools): boolean {
  const { sequences, texts } = tools;
  const wordsOutside = (characters.all - part.length) / 2 + 1;
  if (sequences.repeated + 2 <= (chunkCount - wordsOutside - 2) / 2) return false;
  const text = texts.read(part, tools.part);
  sequences.read(text);
  return repetitionScore(lengthOf(part, text), text, sequences) > 0.5;
}
