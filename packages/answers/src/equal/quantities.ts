import { Fraction } from 'fraction.js';
import {
  type Agree,
  apply,
  constant,
  type Expression,
  hasSymbol,
  type Quantity,
  variablesOf,
  writtenNumber,
} from './expression.ts';

/** Values with a unit on one side or on both, which must then be of one dimension, and of one size unless they are to be converted. */
export function agreeQuantities(
  given: Expression,
  expected: Expression,
  { again, units }: { readonly again: Agree; readonly units: 'same' | 'converted' },
): boolean {
  const [a, b] = [given, expected].map(
    (side): Quantity =>
      side.type === 'quantity' ? side : { type: 'quantity', value: side, unit: '', scale: new Fraction(1) },
  ) as [Quantity, Quantity];
  const percent = (value: Expression) => apply('divide', value, constant(100));
  if (a.unit === '' && b.unit === '%') return again(a.value, b.value) || again(a.value, percent(b.value));
  if (a.unit === '%' && b.unit === '')
    return (!isShare(a.value, b.value) && again(a.value, b.value)) || again(percent(a.value), b.value);
  if (a.unit === '°' && b.unit === '' && hasSymbol(b.value, 'pi')) return false;
  if (a.unit === '?' || b.unit === '?') return false;
  if (a.unit === '' || b.unit === '') return mayBeLeftOut(a.unit === '' ? b : a) && again(a.value, b.value);
  if (a.unit !== b.unit && !saysMore(a.unit, b.unit)) return false;
  const ratio = a.scale.div(b.scale);
  if (ratio.equals(1)) return again(a.value, b.value);
  return units === 'converted' && again(apply('multiply', a.value, constant(ratio)), b.value);
}

/** Whether a unit has further words: `2 moles of NaOH` for `2 mol`. A percentage point is not a percent. */
function saysMore(given: string, expected: string): boolean {
  const [own, right] = [given.split(' '), expected.split(' ')];
  const further = own.filter((name) => !right.includes(name));
  const isWord = (name: string) => /^~(?!point)[a-z]{3,}$/.test(name) && !difference.test(name);
  return further.length === own.length - right.length && further.every(isWord);
}

/** Words of a difference, which is not the value: `12 years younger` is not 12. */
const difference =
  /(?<![a-z])(?:young|old|tall|short|long|heavi|light|fast|slow|high|low|larg|small|great|bigg|wid|deep|cheap|earli|lat|narrow|warm|cold|hott)er(?![a-z])/;

/** A unit of measurement, or a word of more than two letters behind a number: `H_2` is not `H_2O`, and `10v` not `10v down`. */
const mayBeLeftOut = ({ value, unit }: Pick<Quantity, 'value' | 'unit'>) =>
  !difference.test(unit) &&
  !/~\w{1,2}(?![a-z])/.test(unit) &&
  (!/~(?!unit|way)/.test(unit) || variablesOf(value).size === 0);

/** Whether two numbers below 1 are shares because one is a decimal: what 25 % is for 0.25, and 0.25 % is not. */
function isShare(...values: readonly Expression[]): boolean {
  const written = values.map(writtenNumber);
  return (
    written.some((number) => number?.notation === 'decimal') &&
    written.every((number) => number?.value.abs().lt(1))
  );
}
