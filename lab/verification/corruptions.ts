/** Ways in which a text stops making sense, for training and for judging coherence and repetition. */
import type { RandomStream } from '@rlp/core';

/** Makes sense into nonsense. */
export type Corruption = (text: string, random: RandomStream) => string;

/** Every word somewhere else, within its sentence. */
function shuffledSentences(text: string, random: RandomStream): string {
  return text
    .split(/(?<=[.!?])\s+/u)
    .map((sentence) => shuffled(sentence.split(/\s+/u), random).join(' '))
    .join(' ');
}

/** Every word somewhere else. */
function shuffledWords(text: string, random: RandomStream): string {
  return shuffled(text.split(/\s+/u), random).join(' ');
}

/** Three in ten neighbouring words exchanged. */
function swappedWords(text: string, random: RandomStream): string {
  const words = text.split(/\s+/u);
  for (let at = 1; at < words.length; at++) {
    if (random.uniform() < 0.3) [words[at - 1], words[at]] = [words[at]!, words[at - 1]!];
  }
  return words.join(' ');
}

/** From some place on, the same few words again and again. */
function looped(text: string, random: RandomStream): string {
  const words = text.split(/\s+/u);
  const start = Math.floor(words.length * (0.2 + 0.5 * random.uniform()));
  const size = 3 + random.integer(8);
  const phrase = words.slice(start, start + size);
  const loops = Array.from({ length: 6 + random.integer(8) }, () => phrase.join(' '));
  return [...words.slice(0, start), ...loops].join(' ');
}

/** One word in five left out. */
function droppedWords(text: string, random: RandomStream): string {
  return text
    .split(/\s+/u)
    .filter(() => random.uniform() >= 0.2)
    .join(' ');
}

/** Letters of one word in three replaced at random. */
function garbled(text: string, random: RandomStream): string {
  const letter = () => String.fromCharCode(97 + random.integer(26));
  return text.replace(/\p{L}+/gu, (word) =>
    random.uniform() < 0.33 ? Array.from(word, () => letter()).join('') : word,
  );
}

/** All of them, by name. */
export const corruptions: Readonly<Record<string, Corruption>> = {
  'words shuffled': shuffledWords,
  'words shuffled within sentences': shuffledSentences,
  'neighbours swapped': swappedWords,
  'words dropped': droppedWords,
  'stuck in a loop': looped,
  'letters garbled': garbled,
};

/** Sentences in another order: each makes sense, the text does not. */
export function reordered(text: string, random: RandomStream): string {
  return shuffled(text.split(/(?<=[.!?])\s+/u), random).join(' ');
}

function shuffled<T>(items: readonly T[], random: RandomStream): T[] {
  const order = [...items];
  for (let at = order.length - 1; at > 0; at--) {
    const other = random.integer(at + 1);
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}
