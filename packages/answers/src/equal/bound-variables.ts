import { type Expression, renamed, variablesOf } from './expression.ts';

/** The parts of a list or set with one name for each variable that a part such as `k \in \mathbb{Z}` introduces. */
export function withBoundNames(parts: readonly Expression[]): readonly Expression[] {
  const names = parts.flatMap((part) => {
    const isMembership = part.type === 'relation' && part.operators.join() === 'in';
    const side = isMembership ? part.sides[0] : undefined;
    return side?.type === 'symbol' ? [side.name] : [];
  });
  return parts.map((part) => names.reduce((rest, name, index) => renamed(rest, name, `n:${index}`), part));
}

/**
 * `k\pi, k \in \mathbb{Z}` as `n\pi`, if the other answer is in `n` and says nothing of it. A letter that is often a number of the other
 * domain stays.
 */
export function withDeclarationOf(expression: Expression, other: Expression): Expression {
  const [value, declared] =
    expression.type === 'collection' && expression.kind === 'list' ? expression.parts : [];
  if (declared?.type !== 'relation' || declared.operators.join() !== 'in' || isDeclared(other))
    return expression;
  const [name, domain] = declared.sides;
  if (expression.type !== 'collection' || expression.parts.length !== 2) return expression;
  if (name?.type !== 'symbol' || domain?.type !== 'symbol' || !/^[ZR]$/.test(domain.name)) return expression;
  const names = namesIn(value!);
  const others = [...namesIn(other)].filter((letter) => !names.has(letter));
  const isBound = value!.type === 'relation' && value!.operators.join() !== '=';
  if (!names.has(name.name) || isBound) return expression;
  if (others.length === 0) return namesIn(other).has(name.name) ? value! : expression;
  const isUsual = (domain.name === 'Z' ? /^[kmn]$/ : /^[abckmnACK]$/).test(others[0]!);
  return others.length === 1 && isUsual && !namesIn(other).has(name.name)
    ? renamed(value!, name.name, others[0]!)
    : expression;
}

const isDeclared = (expression: Expression) =>
  expression.type === 'collection' && expression.parts.some((part) => part.type === 'relation');

/** Names of the variables of expressions in relations, lists and quantities too. */
function namesIn(expression: Expression): ReadonlySet<string> {
  if (expression.type === 'relation') return new Set(expression.sides.flatMap((side) => [...namesIn(side)]));
  if (expression.type === 'collection')
    return new Set(expression.parts.flatMap((part) => [...namesIn(part)]));
  return variablesOf(expression.type === 'quantity' ? expression.value : expression);
}
