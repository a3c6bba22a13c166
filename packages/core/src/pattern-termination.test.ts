import { expect, it } from 'vitest';
import { patternTermination } from './pattern-termination.ts';

it('ends an episode whose response matches, and says by which pattern', () => {
  expect(patternTermination('DONE|STOP', 'I am DONE.')).toEqual({ reason: 'pattern', detail: 'DONE|STOP' });
  expect(patternTermination('^DONE', 'I am DONE.')).toBeUndefined();
  expect(patternTermination(undefined, 'I am DONE.')).toBeUndefined();
});
