import fc from 'fast-check';
import { expect, it } from 'vitest';
import { passagesOf } from './thoughts.ts';

const parts = (response: string) => passagesOf(response).map(({ kind, text }) => `${kind}: ${text}`);

it('parts thoughts from what is said', () => {
  expect(parts('Hi')).toEqual(['said: Hi']);
  expect(parts('A<think>b</think>C<think>d</think>')).toEqual([
    'said: A',
    'thought: <think>b</think>',
    'said: C',
    'thought: <think>d</think>',
  ]);
});

it('knows thoughts that the prompt opened, and those that are not closed', () => {
  expect(parts('Hm.</think>Yes')).toEqual(['thought: Hm.</think>', 'said: Yes']);
  expect(parts('A<think>b')).toEqual(['said: A', 'open: <think>b']);
  expect(parts('<think>a<think>b</think>')).toEqual(['thought: <think>a<think>b</think>']);
});

it('loses nothing', () => {
  const text = fc.array(fc.constantFrom('<think>', '</think>', 'a', '<')).map((all) => all.join(''));
  fc.assert(
    fc.property(text, (response) => {
      expect(
        passagesOf(response)
          .map((passage) => passage.text)
          .join(''),
      ).toBe(response);
    }),
  );
});
