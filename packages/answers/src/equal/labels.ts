import { type Expression, type Relation, variablesOf, writtenNumber } from './expression.ts';

/** What an equation says that something is: `x = 5`, `f(x) = 5`, `5 = x`, `a = 2 + 3 = 5` and `2 + 3 = 5` say 5. Empty for other equations. */
export function withoutLabel({ operators, sides }: Relation): readonly Expression[] {
  if (!operators.every((operator) => operator === '=' || operator === 'equiv')) return [];
  if (isComputed(sides)) return sides;
  const [label, ...values] = sides;
  if (isVariable(label!) && values.some((value) => variablesOf(value).has(label.name))) return [];
  const isOfMatrix =
    label!.type === 'apply' && label!.name === 'power' && values.every(({ type }) => type === 'collection');
  if (isLabel(label!) || (isOfMatrix && isLabel(label!.args[0]!))) return values;
  return sides.length === 2 && isLabel(sides[1]!) && sides[1]!.type !== 'words' ? [sides[0]!] : [];
}

/**
 * What an equation says of an expression of several variables: `a + b = 7` and `xy = 7` say 7. Empty for other equations, such as `x + y = 7`,
 * which is a line.
 */
export function valueSaid({ operators, sides: [left, right] }: Relation): readonly Expression[] {
  const names = [...variablesOf(left!)];
  const isNamed = !names.some((name) => /^[xyz]/.test(name)) || /^[a-z]+$/.test(factorNames(left!));
  const isOfSeveral = operators.join() === '=' && names.length > 1 && isNamed;
  return isOfSeveral && variablesOf(right!).size === 0 ? [right!] : [];
}

/** A calculation: `\frac{6}{8} = \frac{3}{4}`, but not `3 = 3`. */
function isComputed(sides: readonly Expression[]): boolean {
  const isConstant = (side: Expression) => side.type === 'number' || side.type === 'apply';
  return (
    sides.every((side) => isConstant(side) && variablesOf(side).size === 0) &&
    sides.some((side) => side.type === 'apply' && side.name !== 'negate')
  );
}

/** Names: `x`, `AB`, `f(x)`, `\frac{dy}{dx}`, `(x, y)`, `|v|`, words. */
export function isLabel(side: Expression): boolean {
  if (side.type === 'words') return true;
  if (side.type === 'symbol') return variablesOf(side).size === 1;
  if (side.type === 'collection') return side.kind === '()' && side.parts.every(isLabel);
  if (side.type !== 'apply') return false;
  const [first, second] = side.args;
  if (side.name === 'power')
    return first!.type === 'symbol' && /^[A-Z]$/.test(first!.name) && writtenNumber(second!)?.value.s === -1n;
  if (side.name === 'abs') return isLabel(first!);
  if (side.name === 'divide')
    return isLabel(first!) && isLabel(second!) && !/^[xyz]{2}$/.test(factorNames(side));
  if (side.name === 'call') return second!.type === 'number' || isLabel(second!);
  return side.name === 'multiply' && /^(?:d[a-z]|Delta[a-z]|m?[A-Z]+)$/.test(factorNames(side));
}

/** The letters of a product or quotient, in a row; a sign that no name has for anything else. */
function factorNames(product: Expression): string {
  if (product.type === 'symbol') return product.name.replace(/_.*/, '');
  return product.type === 'apply' && /^(?:multiply|divide)$/.test(product.name)
    ? product.args.map(factorNames).join('')
    : '?';
}

export function isVariable(side: Expression): side is Extract<Expression, { type: 'symbol' }> {
  return side.type === 'symbol' && variablesOf(side).size === 1 && side.name !== 'infty';
}

/** `f(x)`, `g(t)`. */
export function isValueOfFunction(side: Expression): boolean {
  const [name, argument] = side.type === 'apply' && side.name === 'call' ? side.args : [];
  return (
    name?.type === 'symbol' && /^[fgh]$/.test(name.name) && argument !== undefined && isVariable(argument)
  );
}
