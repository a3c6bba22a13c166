import { HashSet, pairReader, TextReader } from '@rlp/answers/text';
import { messageOf } from '@rlp/core';
import { exactSignature, Sequences, signatureLength } from '../text/sequences.ts';
import type { ResolvedAssessorOptions } from './options.ts';

const minimumReasoning = 20;
const minimumAnswer = 2;
const trivialWords = new Set(['n/a', 'none', 'idk', '...', 'thinking']);

/** Quality of one response. */
export type ResponseQuality = ReturnType<ResponseJudge['quality']>;

/** Judges responses batch by batch. */
export class ResponseJudge {
  readonly #options: ResolvedAssessorOptions;
  readonly #readers: Record<'reasoning' | 'answer', ReturnType<typeof pairReader>> | undefined;
  readonly #sequences = new Sequences();
  readonly #text = new TextReader('ignored');
  /** Reads what may repeat itself. With the conventions of TunRex letter case counts. */
  readonly #part: TextReader;
  /** Every word of the batch. */
  readonly #vocabulary = new HashSet();
  #faults: string[] = [];

  constructor(options: ResolvedAssessorOptions) {
    this.#options = options;
    const { tags, conventions } = options;
    this.#part = new TextReader(conventions === 'tunrex' ? 'kept' : 'ignored');
    if (tags !== 'none')
      this.#readers = { reasoning: pairReader(tags.reasoning), answer: pairReader(tags.answer) };
  }

  /** Judges a batch. Equal responses are judged once. @returns With errors of the option `coherence`. */
  judge(responses: readonly string[]) {
    this.#vocabulary.clear();
    this.#faults = [];
    const judged = new Map<string, ResponseQuality>();
    const all = responses.map((response): ResponseQuality => {
      const quality = judged.get(response) ?? this.quality(response);
      judged.set(response, quality);
      return quality;
    });
    return { all, differentWords: this.#vocabulary.size, faults: this.#faults };
  }

  /** Judges one response of a batch. */
  quality(response: string) {
    const text = this.#text.read(response);
    const { tags, conventions, nearDuplicates, coherence } = this.#options;
    const { reasoning, answer, hasReasoningTags, isFormatted } = this.#shape(response);
    const signature = new Uint32Array(signatureLength);
    this.#sequences.read(text, nearDuplicates === 'off' ? undefined : signature);
    if (nearDuplicates === 'off') exactSignature(response, signature);
    for (let at = 0; at < text.chunkCount; at++) this.#vocabulary.add(text.chunks[at]!);
    const length = text.codePoints(response);
    const repetition =
      conventions === 'tunrex' ? this.#repetitionIn(response) : repetitionOf(length, text, this.#sequences);
    const [reasoningLength, answerLength] = [text.codePoints(reasoning), text.codePoints(answer)];
    const isShort = reasoningLength < minimumReasoning || this.#isTooShort(answer, answerLength);
    const isPoor = isFormatted && (isTrivial(reasoning, answer) || this.#repeatsItself(reasoning, text));
    return {
      signature,
      words: text.chunkCount,
      isFormatted,
      hasReasoningTags,
      reasoning,
      /** In code points. */
      reasoningLength,
      answerLength,
      /** In 0–1. */
      repetition,
      /** In 0–1. `undefined` if the option `coherence` failed. */
      coherence: coherence === undefined ? coherenceOf(text, repetition) : this.#judged(response, coherence),
      /** Missing tags or next to no content. Without tags: no letter and no digit. */
      isEmpty: tags === 'none' ? !hasWord(response) : !isFormatted || reasoningLength < 5 || answerLength < 1,
      /** Reasoning below 20 characters or a short answer, formatted or not. */
      isShort,
      /** Formatted with worthless content. */
      isGaming: isFormatted && (isShort || isPoor),
      /** Of those, trivial, repetitive or without a word, and not only short. */
      isWorthless: isPoor || (isFormatted && isShort && !hasWord(reasoning)),
      /** Length of the reasoning, or of the whole text if it is not formatted. */
      contentLength: isFormatted ? reasoningLength : length,
    };
  }

  /** Content of the first pair of each tag. A response that has both pairs is formatted. */
  #shape(response: string) {
    const { tags, conventions } = this.#options;
    const reasoning = this.#readers?.reasoning(response) ?? null;
    const answer = this.#readers?.answer(response) ?? null;
    // With the conventions of TunRex, both tags in any order will do.
    const hasTags = () =>
      tags !== 'none' &&
      [`<${tags.reasoning}>`, `</${tags.reasoning}>`].every((tag) => response.includes(tag));
    return {
      reasoning: reasoning ?? '',
      answer: answer ?? '',
      isFormatted: reasoning !== null && answer !== null,
      hasReasoningTags: reasoning !== null || (conventions === 'tunrex' && hasTags()),
    };
  }

  /** Result of the option `coherence`, `undefined` if it fails. */
  #judged(response: string, coherence: (response: string) => number): number | undefined {
    try {
      const score = coherence(response);
      if (Number.isFinite(score)) return score;
      this.#faults.push(`expected a number, got ${score}`);
    } catch (error) {
      this.#faults.push(messageOf(error));
    }
    return undefined;
  }

  #isTooShort(answer: string, length: number): boolean {
    if (length !== 1) return length < minimumAnswer;
    return this.#options.singleCharacterAnswers === 'reject' || !hasWord(answer);
  }

  /**
   * Whether over half of a part of a response repeats.
   *
   * The sequences are those of the whole response. They contain those of the part, except for two at the ends. If too few of them
   * repeat, the part need not be read.
   */
  #repeatsItself(part: string, { characters, chunkCount }: TextReader): boolean {
    const wordsOutside = (characters.all - part.length) / 2 + 1;
    if (this.#sequences.repeated + 2 <= (chunkCount - wordsOutside - 2) / 2) return false;
    return this.#repetitionIn(part) > 0.5;
  }

  #repetitionIn(part: string): number {
    const text = this.#part.read(part);
    this.#sequences.read(text);
    return repetitionOf(text.codePoints(part), text, this.#sequences);
  }
}

/**
 * Scores how much a response reads like text, in 0–1. The score is the product of
 *
 * - the share of characters that are neither controls nor garbled,
 * - 1 minus the repetition,
 * - a score of the mean word length. It is 1 for 2 to 12 characters and lower outside.
 *
 * This separates text from noise, loops and binary garbage, not sense from nonsense. Pass the option `coherence` for that.
 */
function coherenceOf({ characters, chunkCount }: TextReader, repetition: number): number {
  if (chunkCount === 0) return 0;
  const meanLength = characters.all / chunkCount;
  const lengthScore = meanLength < 2 ? meanLength / 2 : Math.min(1, 12 / meanLength);
  return ((characters.all - characters.garbled) / characters.all) * (1 - repetition) * lengthScore;
}

/** Repetition of three-word sequences. 0 below 10 characters or 5 words. */
function repetitionOf(length: number, { chunkCount }: TextReader, sequences: Sequences): number {
  return length < 10 || chunkCount < 5 ? 0 : sequences.repetition;
}

/** Whether there is a letter or a digit. */
export function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function isTrivial(...parts: readonly string[]): boolean {
  return parts.some((text) => text.length < 16 && trivialWords.has(text.toLowerCase()));
}
