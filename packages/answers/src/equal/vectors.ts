import { apply, type Collection, type Expression, symbol, variablesOf } from './expression.ts';

function isVector(expression: Expression): expression is Collection {
  return expression.type === 'collection' && /^(?:matrix|<>|\(\)$)/.test(expression.kind);
}

/** `t(3, 4)` as a product if it is added to something. */
function asProduct(term: Expression): Expression {
  if (term.type !== 'apply' || !/^(?:call|multiply|negate)$/.test(term.name)) return term;
  const [factor, rest] = term.args;
  if (term.name === 'negate') return apply('negate', asProduct(factor!));
  const isScaled = rest?.type === 'collection' && rest.kind === '()';
  return term.name === 'call' && !isScaled ? term : apply('multiply', factor!, asProduct(rest!));
}

/** Sums, multiples and quotients of matrices and vectors, entry by entry; products of two matrices stay as they are. */
export function entrywise(expression: Expression): Expression {
  if (expression.type !== 'apply') return expression;
  const { name } = expression;
  const args = name === 'add' ? expression.args.map(asProduct) : expression.args;
  const [first, second] = args.map(entrywise);
  if (first === undefined || !/^(?:add|negate|multiply|divide)$/.test(name)) return expression;
  if (isVector(first) && name === 'negate') return withParts(first, (part) => apply('negate', part));
  if (second === undefined) return expression;
  if (isVector(first) && isVector(second)) {
    const isSum = name === 'add' && first.kind === second.kind && first.parts.length === second.parts.length;
    return isSum ? withParts(first, (part, index) => apply('add', part, second.parts[index]!)) : expression;
  }
  if (isVector(first) && /^(?:multiply|divide)$/.test(name))
    return withParts(first, (part) => apply(name, part, second));
  return isVector(second) && name === 'multiply'
    ? withParts(second, (part) => apply(name, first, part))
    : expression;
}

function withParts(vector: Collection, change: (part: Expression, index: number) => Expression): Collection {
  return { ...vector, parts: vector.parts.map(change) };
}

/**
 * A vector as the sum `a\mathbf{i} + b\mathbf{j} + c\mathbf{k}`, if the other answer is such a sum. The imaginary unit stands for `i`: it is
 * independent of `j` and `k` too.
 */
export function inUnitVectors(vector: Expression, other: Expression): Expression | undefined {
  const names = [...variablesOf(other)];
  const isSum = other.type === 'apply' && names.length > 0 && names.every((name) => /^[jk]$/.test(name));
  if (
    !isSum ||
    vector.type !== 'collection' ||
    !/^(?:\(\)|\[\])$/.test(vector.kind) ||
    vector.parts.length > 3
  )
    return;
  return vector.parts
    .map((part, index) => apply('multiply', part, symbol('ijk'[index]!)))
    .reduce((sum, term) => apply('add', sum, term));
}
