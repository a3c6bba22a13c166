import { evaluate, toComplex } from './evaluate.ts';
import { type Apply, apply, type Collection, collection, type Expression, symbol } from './expression.ts';

export const infinity = symbol('infty');
export const minusInfinity = apply('negate', infinity);
export const reals = collection('()', [minusInfinity, infinity]);

/** `\mathbb{R} \setminus \{a, b\}`, `\mathbb{R} - \{a, b\}` and `(0, 3] \setminus \{1\}`, for numbers, as a union of intervals. */
export function withoutPoints(difference: Apply): Collection | undefined {
  const [all, rest] = difference.args;
  const interval = all?.type === 'symbol' && all.name === 'R' ? reals : all;
  if (interval?.type !== 'collection' || !/^[([][)\]]$/.test(interval.kind) || rest === undefined) return;
  const isMinus = difference.name === 'add' && rest.type === 'apply' && rest.name === 'negate';
  const points = isMinus ? rest.args[0]! : rest;
  if (!(difference.name === 'without' || isMinus)) return;
  if (points.type !== 'collection' || points.kind !== 'set' || interval.parts.length !== 2) return;
  return split(interval, points.parts);
}

function split(
  { kind, parts: [low, high] }: Collection,
  points: readonly Expression[],
): Collection | undefined {
  const [from, to] = [placeOf(low!), placeOf(high!)];
  const places = points.map((point) => ({ point, at: placeOf(point) })).sort((a, b) => a.at - b.at);
  if (Number.isNaN(from + to) && !(from === -Infinity && to === Infinity)) return;
  if (Number.isFinite(from + to) && places.some(({ at }) => Number.isNaN(at))) return;
  const inside = places.filter(({ at }) => !(at <= from || at >= to)).map(({ point }) => point);
  const opening = places.some(({ at }) => at === from) ? '(' : kind[0]!;
  const closing = places.some(({ at }) => at === to) ? ')' : kind[1]!;
  const edges = [low!, ...inside, high!];
  const pieces = edges.slice(1).map((edge, index) => {
    const brackets = (index === 0 ? opening : '(') + (index === inside.length ? closing : ')');
    return collection(brackets, [edges[index]!, edge]);
  });
  return pieces.length === 1 ? pieces[0] : collection('union', pieces);
}

/** Where a number lies on the line. Not a number for what has no value. */
export function placeOf(point: Expression): number {
  if (point.type === 'symbol' && point.name === 'infty') return Infinity;
  if (point.type === 'apply' && point.name === 'negate') return -placeOf(point.args[0]!);
  return toComplex(evaluate(point, new Map())).re;
}

/**
 * The members of a union of intervals and points, those that touch or overlap joined: `[0, 1] \cup [1, 2]` is `[0, 2]`, and
 * `[0, 1) \cup (1, 2]` stays. Unchanged if a place is not a number.
 */
export function joined(members: readonly Expression[]): readonly Expression[] {
  const pieces = members.flatMap((member) => {
    if (member.type !== 'collection') return [{ kind: '', low: member, high: member }];
    const { kind, parts } = member;
    if (kind === 'set') return parts.map((point) => ({ kind: '[]', low: point, high: point }));
    return [{ kind, low: parts[0]!, high: parts.at(-1)! }];
  });
  const areKnown = pieces.every(({ kind }) => /^[([][)\]]$/.test(kind));
  if (!areKnown) return members;
  const placed = pieces.map((piece) => ({ ...piece, from: placeOf(piece.low), to: placeOf(piece.high) }));
  if (placed.some(({ kind, from, to }) => !(from < to || (from === to && kind === '[]')))) return members;
  placed.sort((a, b) => a.from - b.from || Number(a.kind[0] === '(') - Number(b.kind[0] === '('));
  const whole: typeof placed = [];
  for (const next of placed) {
    const last = whole.at(-1);
    const isApart =
      last === undefined ||
      next.from > last.to ||
      (next.from === last.to && last.kind[1] === ')' && next.kind[0] === '(');
    if (isApart) {
      whole.push(next);
      continue;
    }
    const isFurther = next.to > last.to || (next.to === last.to && next.kind[1] === ']');
    whole[whole.length - 1] = {
      ...last,
      ...(isFurther && { high: next.high, to: next.to }),
      kind: last.kind[0]! + (isFurther ? next.kind[1]! : last.kind[1]!),
    };
  }
  const points = whole.filter(({ from, to }) => from === to).map(({ low }) => low);
  const intervals = whole
    .filter(({ from, to }) => from < to)
    .map(({ kind, low, high }) => collection(kind, [low, high]));
  return points.length === 0 ? intervals : [...intervals, collection('set', points)];
}

/** What intervals have in common, if there are inner points; `undefined` otherwise, and for anything but intervals. */
export function intersection(parts: readonly Expression[]): Collection | undefined {
  const intervals = parts.filter(
    (part): part is Collection => part.type === 'collection' && /^[([][)\]]$/.test(part.kind),
  );
  if (intervals.length !== parts.length) return;
  const lows = intervals.map(({ kind, parts: [low] }) => ({ kind, edge: low!, at: placeOf(low!) }));
  const highs = intervals.map(({ kind, parts: [, high] }) => ({ kind, edge: high!, at: placeOf(high!) }));
  const low = lows.reduce((a, b) => (b.at > a.at || (b.at === a.at && b.kind[0] === '(') ? b : a));
  const high = highs.reduce((a, b) => (b.at < a.at || (b.at === a.at && b.kind[1] === ')') ? b : a));
  return low.at < high.at ? collection(low.kind[0]! + high.kind[1]!, [low.edge, high.edge]) : undefined;
}
