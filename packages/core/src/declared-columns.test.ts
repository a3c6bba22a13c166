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

const tensor = (rows: number) => ({ rows });
const ops = {
  constant: tensor,
  neg: (x: { rows: number }) => tensor(x.rows),
  mul(a: { rows: number }, b: { rows: number }) {
    if (a.rows !== b.rows) throw new Error(`${a.rows} and ${b.rows}`);
    return a;
  },
};
type Compute = (
  given: typeof ops & Readonly<Record<string, (x: never) => unknown>>,
  inputs: Record<string, never>,
) => unknown;

it.each<[string, Compute]>([
  [
    'calls ops.mul with -1, expected a tensor; write ops.constant(-1)',
    ({ mul }, { logprobs }) => mul(logprobs!, -1 as never),
  ],
  [
    "calls ops.neg with undefined, expected a tensor; a loss that reads entropies or values declares entropies: 'needed'",
    ({ neg }, { entropies }) => neg(entropies!),
  ],
  ['calls ops.negate, which does not exist', (given, { logprobs }) => given.negate!(logprobs as never)],
  [
    'returned NaN as tokenLosses, expected a tensor; compute it with ops',
    (_, { logprobs }) => -logprobs! * 2,
  ],
  ['returned -1 as tokenLosses', () => -1],
])('says that a loss %s', (problem, compute) => {
  const loss = {
    key: 'mine',
    columns: [],
    compute: (...given: never) => ({ tokenLosses: compute(...(given as Parameters<Compute>)) }),
  };
  const inputs = { logprobs: tensor(2), mask: tensor(2), columns: {} };
  expect(() => computedLoss(loss as never, ops as never, inputs as never)).toThrow(
    `the loss "mine" ${problem}`,
  );
});

it("leaves an error of the loss's own as it is", () => {
  const compute = () => {
    throw new Error('mine');
  };
  const loss = { key: 'mine', columns: [], compute };
  expect(() => computedLoss(loss, ops as never, {} as never)).toThrow(new Error('mine'));
});
