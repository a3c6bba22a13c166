import { expect, it } from 'vitest';
import { having } from './options/having.ts';
import { withMethods } from './with-methods.ts';

interface Part {
  begin(): void;
  end(): void;
}
const schema = withMethods(having<Part>('begin', 'a part'), ['begin', 'end'], 'extend BasePart');

const problemsOf = (value: unknown) => schema.safeParse(value).error?.issues.map(({ message }) => message);

it('names the methods that a part lacks, and nothing if it is no part at all', () => {
  expect(problemsOf({ begin() {} })).toEqual([
    'must have the methods begin, end, got none named end; extend BasePart',
  ]);
  expect(problemsOf({ begin() {}, end() {} })).toBeUndefined();
  for (const none of [undefined, null, 3, {}]) expect(problemsOf(none)).toEqual(['must be a part']);
});
