import {
  type Agree,
  apply,
  constant,
  type Expression,
  partsOf,
  symbol,
  writtenNumber,
} from './expression.ts';

/** Values with a unit on one side or on both. */
export function agreeQuantities(given: Expression, expected: Expression, again: Agree): boolean {
  const [a, b] = [given, expected].map((side) =>
    side.type === 'quantity' ? side : { value: side, unit: '' },
  ) as [{ value: Expression; unit: string }, { value: Expression; unit: string }];
  const percent = (value: Expression) => apply('divide', value, constant(100));
  if (a.unit === '' && b.unit === '%') return again(a.value, b.value) || again(a.value, percent(b.value));
  if (a.unit === '%' && b.unit === '')
    return (!isShare(a.value, b.value) && again(a.value, b.value)) || again(percent(a.value), b.value);
  if (a.unit === 'degree' && b.unit === '' && hasPi(b.value)) return false;
  if (a.unit === 'rad' && b.unit === 'degree') return again(inDegrees(a.value), b.value);
  if (a.unit === 'degree' && b.unit === 'rad') return again(a.value, inDegrees(b.value));
  const areSame =
    a.unit === '' || b.unit === '' || a.unit === b.unit || bare(a.unit) === b.unit || bare(b.unit) === a.unit;
  return areSame && a.unit !== '?' && again(a.value, b.value);
}

/** A unit without its exponents, which may be missing: `cm` for `cm^2`. */
const bare = (unit: string) => unit.replaceAll(/\^\d*/g, '');

/** Whether two numbers below 1 are shares because one is a decimal: what 25 % is for 0.25, and 0.25 % is not. */
function isShare(...values: readonly Expression[]): boolean {
  const written = values.map(writtenNumber);
  return (
    written.some((number) => number?.notation === 'decimal') &&
    written.every((number) => number?.value.abs().lt(1))
  );
}

/** The degrees of an angle in radians. */
const inDegrees = (value: Expression) =>
  apply('divide', apply('multiply', value, constant(180)), symbol('pi'));

/** Whether an angle without a unit is in radians. */
const hasPi = (value: Expression) =>
  partsOf(value).some((part) => part.type === 'symbol' && part.name === 'pi');
