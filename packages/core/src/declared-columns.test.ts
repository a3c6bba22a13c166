import { expect, it } from 'vitest';
import { declaredColumns } from './declared-columns.ts';
import { ArgumentError } from './errors.ts';

const columns = declaredColumns({ key: 'mine', columns: ['advantages', 'weights'] }, (name) => `<${name}>`);

it('gives a loss the columns that it declared', () => {
  expect(columns.advantages).toBe('<advantages>');
  expect({ ...columns }).toEqual({ advantages: '<advantages>', weights: '<weights>' });
});

it('refuses to read another column, by its name, but says that it is not there', () => {
  expect(() => columns.returns).toThrow(
    new ArgumentError(
      'the loss "mine" reads the column "returns", which it does not declare; add it to the loss\'s `columns`',
    ),
  );
  expect('returns' in columns).toBe(false);
  expect('weights' in columns).toBe(true);
});

it('can be printed, which reads symbols', () => {
  expect(Object.prototype.toString.call(columns)).toBe('[object Object]');
});
