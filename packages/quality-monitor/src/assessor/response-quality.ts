import type { HashSet } from '../text/hash-set.ts';
import type { WordScanner } from '../text/words.ts';
import { coherenceOf } from './coherence.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import type { ShapeReader } from './response-shape.ts';

/** What is found out about one response. */
export interface ResponseQuality {
  readonly words: number;
  readonly shape: 'formatted' | 'unformatted';
  readonly hasReasoning: boolean;
  readonly reasoningLength: number;
  readonly answerLength: number;
  /** In 0..1. */
  readonly repetition: number;
  /** In 0..1. */
  readonly coherence: number;
  /** Tags missing, or next to nothing between them. */
  readonly isEmpty: boolean;
  /** Formatted, with content that is worth nothing. */
  readonly isGaming: boolean;
  /** Less reasoning than 20 characters or less answer than asked for, tags or not. */
  readonly isShort: boolean;
}

/** What reading a response takes; one set serves all of them. */
export interface ResponseReader {
  readonly options: ResolvedAssessorOptions;
  readonly readShape: ShapeReader;
  readonly words: WordScanner;
  /** Gets every word. */
  readonly vocabulary: HashSet;
  /** Gets the response's signature. */
  readonly signature: Uint32Array;
}

const minimumReasoning = 20;
const minimumAnswer = 2;
const trivialWords = new Set(['n/a', 'none', 'idk', '...', 'thinking']);

/** Reads a response once. */
export function responseQuality(response: string, reader: ResponseReader): ResponseQuality {
  const { options, words } = reader;
  const { reasoning, answer } = reader.readShape(response);
  words.read(response);
  words.addTo(reader.vocabulary);
  if (options.nearDuplicates === 'off') words.exactSignature(reader.signature);
  else words.signature(reader.signature);
  const { count } = words;
  const repetition = repetitionScore(response, words);
  const coherence = options.coherence?.(response) ?? coherenceOf(response, words, repetition);
  const isFormatted = reasoning !== undefined && answer !== undefined;
  const isShort = (reasoning?.length ?? 0) < minimumReasoning || isTooShort(answer ?? '', options);
  return {
    words: count,
    shape: isFormatted ? 'formatted' : 'unformatted',
    hasReasoning: reasoning !== undefined,
    reasoningLength: reasoning?.length ?? 0,
    answerLength: answer?.length ?? 0,
    repetition,
    coherence,
    isEmpty: !isFormatted || reasoning.length < 5 || answer.length < 1,
    isShort,
    isGaming: isFormatted && (isShort || isTrivial(reasoning, answer) || repeatsItself(reasoning, words)),
  };
}

/** Repetition of three-word sequences; texts under 10 characters or 5 words have none. */
function repetitionScore(text: string, words: WordScanner): number {
  return text.length < 10 || words.count < 5 ? 0 : words.repetition();
}

function isTooShort(answer: string, { singleCharacterAnswers }: ResolvedAssessorOptions): boolean {
  if (singleCharacterAnswers === 'accept' && /^[\p{L}\p{N}]$/u.test(answer)) return false;
  return answer.length < minimumAnswer;
}

function isTrivial(reasoning: string, answer: string): boolean {
  return trivialWords.has(reasoning.toLowerCase()) || trivialWords.has(answer.toLowerCase());
}

function repeatsItself(reasoning: string, words: WordScanner): boolean {
  words.read(reasoning);
  return repetitionScore(reasoning, words) > 0.5;
}
