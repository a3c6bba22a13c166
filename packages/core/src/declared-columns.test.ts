import { expect, it } from 'vitest';
import { computedLoss, declaredColumns } from './declared-columns.ts';
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

it('refuses a loss that returns no losses of tokens', () => {
  const ofNothing = { key: 'mine', columns: [], compute: () => ({}) } as unknown as Parameters<
    typeof computedLoss
  >[0];
  const ofAll = { ...ofNothing, compute: () => ({ tokenLosses: 'losses' }) } as typeof ofNothing;
  const compute = (loss: typeof ofNothing) => computedLoss(loss, {} as never, {} as never);
  expect(compute(ofAll)).toEqual({ tokenLosses: 'losses' });
  const nothing = { ...ofNothing, compute: () => undefined } as unknown as typeof ofNothing;
  for (const loss of [ofNothing, nothing]) {
    expect(() => compute(loss)).toThrow('the loss "mine" returned no tokenLosses; return { tokenLosses }');
  }
});
