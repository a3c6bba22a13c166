import { type Expression, renamed, variablesOf } from './expression.ts';

/** The constant of an integral may have another name: `x^2 + c` for `x^2 + C`. */
export function withConstantOf(given: Expression, expected: Expression): Expression {
  const [named, wanted] = [constantTerm(given), constantTerm(expected)];
  if (named === undefined || wanted === undefined || named === wanted) return given;
  const isOther = (name: string, side: Expression) => !variablesOf(side).has(name);
  return isOther(named, expected) && isOther(wanted, given) ? renamed(given, named, wanted) : given;
}

/** The letter c, C, k or K that is the last term of a sum. */
function constantTerm(sum: Expression): string | undefined {
  const last = sum.type === 'apply' && sum.name === 'add' ? sum.args[1]! : undefined;
  return last?.type === 'symbol' && /^[cCkK]$/.test(last.name) ? last.name : undefined;
}
