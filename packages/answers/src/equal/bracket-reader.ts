import { apply, collection, constant, type Expression, partsOf, renamed, variablesOf } from './expression.ts';
import { isLabel } from './labels.ts';
import { otherwise } from './piecewise.ts';
import { TermReader } from './term-reader.ts';
import { Unreadable } from './token-cursor.ts';

const closers: Readonly<Record<string, string>> = { ')': ')', ']': ']', '[': ')' };

/** The grammar of what brackets, bars and environments hold. */
export abstract class BracketReader extends TermReader {
  /** Whether a set is being read. */
  protected isInSet = false;

  /** Reads items between commas. */
  protected abstract list(): Expression;

  /** Reads a relation or a value. */
  protected abstract relation(): Expression;

  /** Reads a value with its unit. */
  protected abstract quantity(): Expression;

  protected group(opening: string): Expression {
    if (opening === '{') return this.#braced();
    if (opening === '|') return this.#bars();
    if (opening === '\\{') return this.#bracketed('{', { '\\}': '}' });
    if (opening === 'langle') return this.#bracketed('<', { rangle: '>' });
    if (opening === 'begincases') return this.#cases();
    if (opening.startsWith('begin')) return this.#matrix(opening.replace('begin', 'end'));
    if (opening === 'lfloor' || opening === 'lceil') {
      const inner = this.sum();
      this.expect(opening.replace('l', 'r'), 'command');
      return apply(opening.slice(1), inner);
    }
    if (!/^[([\]]$/.test(opening)) throw new Unreadable();
    return this.#bracketed(opening === '[' ? '[' : '(', closers);
  }

  #bars(): Expression {
    this.bars += 1;
    const inner = this.sum();
    this.expect('|');
    this.bars -= 1;
    return apply('abs', inner);
  }

  /** A group of TeX. `{1,2}` is meant as a set, `{n \choose k}` is a binomial. */
  #braced(): Expression {
    if (this.take('}')) return collection('set', []);
    const inner = this.list();
    for (const [command, name] of [
      ['choose', 'binomial'],
      ['over', 'divide'],
    ] as const) {
      if (!this.take(command, 'command')) continue;
      const below = this.sum();
      this.expect('}');
      return apply(name, inner, below);
    }
    this.expect('}');
    return inner.type === 'collection' && inner.kind === 'list' ? collection('set', inner.parts) : inner;
  }

  #bracketed(open: string, closings: Readonly<Record<string, string>>): Expression {
    const { bars, sign, isInSet } = this;
    this.bars = 0;
    this.isInSet = open === '{';
    if (open === '{') {
      this.sign = 'unread';
      this.#separate();
    }
    const isEmpty = open === '{' && this.is('sign', '\\}');
    let inner = isEmpty ? collection('list', []) : this.list();
    const isCondition = open === '{' && this.take(':');
    let image: readonly Expression[] =
      isCondition && !isLabel(inner) && inner.type !== 'relation' ? [inner] : [];
    if (isCondition) {
      const domain = inner.type === 'relation' ? [inner] : [];
      const element = inner.type === 'relation' ? inner.sides[0]! : inner;
      inner = this.list();
      const conditions =
        inner.type === 'collection' && /^(?:list|all)$/.test(inner.kind) ? inner.parts : [inner];
      const isOfReals = domain.every(({ sides }) => partsOf(sides[1]!).some(isReals));
      const value = element.type === 'symbol' && isOfReals ? elementIn(element.name, conditions) : undefined;
      if (value !== undefined) {
        image = [value.is];
        inner = collection('list', value.others);
      } else {
        const isPoint = element.type === 'collection';
        if (domain.length > 0 && !(isPoint && isOfReals))
          inner = collection('list', [...conditions, ...domain]);
        if (element.type === 'symbol') inner = ofElement(inner, element.name);
        if (isPoint && image.length === 0) inner = ofPoint(inner, element.parts);
      }
    }
    Object.assign(this, { bars, sign, isInSet });
    const closing = closings[this.advance().text];
    if (closing === undefined) throw new Unreadable();
    const parts =
      inner.type === 'collection' && /^(?:list|either)$/.test(inner.kind) ? inner.parts : undefined;
    if (isCondition)
      return image.length === 0 ? inner : collection('image', [...image, ...(parts ?? [inner])]);
    if (open === '{') return collection('set', parts ?? [inner]);
    return parts === undefined ? inner : collection(open + closing, parts);
  }

  /** An odd bar in a set stands before its condition. */
  #separate(): void {
    const end = this.tokens.findIndex(({ text }, at) => at >= this.at && text === '\\}');
    const bars = this.tokens.flatMap(({ text }, at) =>
      text === '|' && at >= this.at && at < end ? [at] : [],
    );
    if (bars.length % 2 === 1) this.tokens[bars[0]!] = { kind: 'sign', text: ':', spaced: true };
  }

  /** Values, each with its condition behind it. */
  #cases(): Expression {
    const parts: Expression[] = [];
    while (!this.take('endcases', 'command')) {
      parts.push(this.quantity());
      this.take(',');
      this.take('&');
      const word = this.is('word') ? this.advance().text.toLowerCase() : 'if';
      if (/^(?:otherwise|else|elsewhere)$/.test(word)) parts.push(otherwise);
      else if (/^(?:if|when|for|where)$/.test(word)) parts.push(this.relation());
      if (parts.length % 2 === 1 || !(parts.at(-1) === otherwise || parts.at(-1)!.type === 'relation'))
        throw new Unreadable();
      for (const sign of [',', ';', '.', '\\']) this.take(sign);
    }
    if (parts.length === 0) throw new Unreadable();
    return collection('cases', parts);
  }

  #matrix(end: string): Expression {
    const rows: Expression[][] = [[]];
    while (!this.take(end, 'command')) {
      if (this.take('\\')) rows.push([]);
      else if (!this.take('&')) rows.at(-1)!.push(this.quantity());
    }
    if (rows.at(-1)!.length === 0) rows.pop();
    const kind = end === 'endvmatrix' ? 'determinant' : 'matrix';
    const isSquare = rows.length <= 4 && rows.every((row) => row.length === rows.length);
    return kind === 'determinant' && isSquare && rows.flat().every(isTerm)
      ? determinant(rows)
      : collection(`${kind} ${rows.map((row) => row.length).join(',')}`, rows.flat());
  }
}

const isTerm = ({ type }: Expression) => /^(?:number|symbol|apply)$/.test(type);

/** The determinant of a square matrix, along its first row. */
function determinant([first = [], ...others]: readonly (readonly Expression[])[]): Expression {
  if (others.length === 0) return first[0] ?? constant(1);
  const terms = first.map((entry, column) => {
    const rest = others.map((row) => row.filter((_, at) => at !== column));
    const term = apply('multiply', entry, determinant(rest));
    return column % 2 === 0 ? term : apply('negate', term);
  });
  return terms.reduce((sum, term) => apply('add', sum, term));
}

const isReals = (part: Expression) => part.type === 'symbol' && part.name === 'R';

/** What `x = 2k, k \in \mathbb{Z}` says that the element `x` is, and the other conditions; `undefined` if its letters are not declared. */
function elementIn(
  name: string,
  conditions: readonly Expression[],
): { readonly is: Expression; readonly others: readonly Expression[] } | undefined {
  const isName = (side?: Expression) => side?.type === 'symbol' && side.name === name;
  const equation = conditions.find(
    (part) => part.type === 'relation' && part.operators.join() === '=' && isName(part.sides[0]),
  );
  if (equation?.type !== 'relation') return;
  const is = equation.sides[1]!;
  const others = conditions.filter((part) => part !== equation);
  const declared = others.flatMap((part) =>
    part.type === 'relation' && part.operators.join() === 'in' ? [...variablesOf(part.sides[0]!)] : [],
  );
  const letters = [...variablesOf(is)];
  return letters.length > 0 && letters.every((letter) => declared.includes(letter))
    ? { is, others }
    : undefined;
}

/** The conditions of a set of points, whose coordinates are `x`, `y` and `z` whatever they are called. */
function ofPoint(inner: Expression, places: readonly Expression[]): Expression {
  const names = places.flatMap((place) =>
    place.type === 'symbol' && /^[a-zA-Z](?:_\d)?$/.test(place.name) ? [place.name] : [],
  );
  const usual = ['x', 'y', 'z'].slice(0, names.length);
  const relations = inner.type === 'collection' ? inner.parts : [inner];
  const letters = variablesOf(
    ...relations.flatMap((part) => (part.type === 'relation' ? part.sides : [part])),
  );
  const isTaken = usual.some((name) => letters.has(name) && !names.includes(name));
  if (names.length !== places.length || names.length > 3 || new Set(names).size < names.length || isTaken)
    return inner;
  const placed = names.reduce((rest, name, at) => renamed(rest, name, `place:${at}`), inner);
  return usual.reduce((rest, name, at) => renamed(rest, `place:${at}`, name), placed);
}

/** The conditions of a set for its element. If they are bounds, its letter does not count. A set of which none speaks of its element is not read. */
function ofElement(inner: Expression, name: string): Expression {
  const conditions = inner.type === 'collection' ? inner.parts : [inner];
  const sides = conditions.flatMap((part) =>
    part.type === 'relation' && part.operators[0] !== 'in' ? part.sides : [],
  );
  if (sides.length > 0 && !sides.some((side) => variablesOf(side).has(name))) throw new Unreadable();
  const isBound = conditions.every(
    (part) =>
      part.type === 'relation' &&
      /^(?:(?:[<>]|[lg]e|ne|in),?)+$/.test(part.operators.join()) &&
      part.sides.every((side) => side.type === 'symbol' || variablesOf(side).size === 0),
  );
  return isBound ? renamed(inner, name, 'element:') : inner;
}
