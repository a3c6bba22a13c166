import type { RewardFunction } from '@rlp/core';
import type { StoryWish } from './openings.ts';

/** 1 if the story contains the wished-for word, as a word of its own and whatever its case. */
export const containsWord: RewardFunction<StoryWish> = ({ response, task }) =>
  words(response).includes(task.metadata.word.toLowerCase()) ? 1 : 0;

/** 1 if the policy ended the story by itself, at the end of a sentence. */
export const endsCleanly: RewardFunction = ({ response, status }) =>
  status === 'completed' && /[.!?]["']?\s*$/.test(response) ? 1 : 0;

/** Share of the story's three-word sequences that occur once: 1 for a story that never repeats itself. */
export const freshness: RewardFunction = ({ response }) => {
  const sequence = words(response);
  const triples = sequence.slice(2).map((_, start) => sequence.slice(start, start + 3).join(' '));
  return triples.length === 0 ? 0 : new Set(triples).size / triples.length;
};

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}']+/gu) ?? [];
}
