import { expect, it } from 'vitest';
import { responseTags } from './response-tags.ts';

it('finds the tags that a reward asks for', () => {
  const form = { name: 'tagFormat', params: { tags: ['think', 'plan', 'solution'] } };
  expect(responseTags({ right: 'exactAnswer', form })).toEqual({ reasoning: 'think', answer: 'solution' });
});

it.each([
  [undefined],
  [() => 1],
  [{ right: 'answer', brief: () => 1 }],
  [{ form: { name: 'tagFormat', params: { tags: ['answer'] } } }],
])('expects plain text if no reward names two tags: %#', (rewards) => {
  expect(responseTags(rewards)).toBe('none');
});
