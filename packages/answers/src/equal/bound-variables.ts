import { type Expression, renamed } from './expression.ts';

/** The parts of a list or set with one name for each variable that a part such as `k \in \mathbb{Z}` introduces. */
export function withBoundNames(parts: readonly Expression[]): readonly Expression[] {
  const names = parts.flatMap((part) => {
    const isMembership = part.type === 'relation' && part.operators.join() === 'in';
    const side = isMembership ? part.sides[0] : undefined;
    return side?.type === 'symbol' ? [side.name] : [];
  });
  return parts.map((part) => names.reduce((rest, name, index) => renamed(rest, name, `n:${index}`), part));
}
