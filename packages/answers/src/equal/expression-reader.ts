import type { Fraction } from 'fraction.js';
import { apply, collection, constant, type Expression, writtenNumber } from './expression.ts';
import { latexTokens, type Token } from './latex-tokens.ts';
import { TermReader } from './term-reader.ts';
import { Unreadable } from './token-cursor.ts';
import { unitOf } from './units.ts';
import { determinant } from './vectors.ts';

const relations: ReadonlySet<string> = new Set('= < > le ge ne in approx equiv is are'.split(' '));
const closers: Readonly<Record<string, string>> = { ')': ')', ']': ']', '[': ')' };

/**
 * Reads the tokens of an answer: lists, sets, tuples, intervals, unions, matrices, relations, quantities with a unit, and expressions of
 * numbers, letters and the usual operations and functions. `undefined` for anything else.
 *
 * A recursive-descent reader. An item with a plus-minus sign is read twice.
 */
export function readExpression(tokens: readonly Token[]): Expression | undefined {
  try {
    return new Reader(tokens).readAll();
  } catch (error) {
    if (error instanceof Unreadable) return;
    throw error;
  }
}

/** The grammar of lists of relations. Each method reads one level. */
class Reader extends TermReader {
  #isInSet = false;

  readAll(): Expression {
    const expression = this.#list();
    if (this.next !== undefined) throw new Unreadable();
    return expression;
  }

  /** Items between commas, semicolons, "or" and "and". */
  #list(): Expression {
    return this.nest(() => {
      const parts = this.#item();
      let kind = 'list';
      for (;;) {
        const hasComma = this.take(',') || this.take(';');
        const isAll = this.take('and', 'word');
        if (isAll && !hasComma) kind = 'all';
        if (!hasComma && !isAll && !this.take('or', 'word')) break;
        if (hasComma) this.take('or', 'word');
        parts.push(...this.#item());
      }
      return parts.length === 1 ? parts[0]! : collection(kind, parts);
    });
  }

  /** One relation or value; two, if it has a plus-minus sign. */
  #item(): Expression[] {
    if (this.sign !== 'unread') return [this.#relation()];
    const { at, hasBothSigns } = this;
    this.hasBothSigns = false;
    this.sign = 'plus';
    const items = [this.#relation()];
    if (this.hasBothSigns) {
      this.at = at;
      this.sign = 'minus';
      items.push(this.#relation());
    }
    this.sign = 'unread';
    this.hasBothSigns = hasBothSigns;
    return items;
  }

  #relation(): Expression {
    const sides = [this.#ratio()];
    const operators: string[] = [];
    while (!this.is('letter') && relations.has(this.next?.text ?? '')) {
      const operator = this.advance().text.replace(/^(?:is|are)$/, '=');
      const isInclusive = /^[<>]$/.test(operator) && this.take('=');
      operators.push(isInclusive ? (operator === '<' ? 'le' : 'ge') : operator);
      sides.push(this.#ratio());
    }
    return operators.length === 0 ? sides[0]! : { type: 'relation', operators, sides };
  }

  /** `3:4` is a quotient, except in a set, where a colon begins its condition. */
  #ratio(): Expression {
    const value = this.#quantity();
    return !this.#isInSet && this.take(':') ? apply('divide', value, this.#quantity()) : value;
  }

  /** A value with its currency or unit, or a phrase. */
  #quantity(): Expression {
    const currency = this.#currency();
    if (this.is('word') && (this.next!.text.length > 1 || this.is('word', undefined, 1)))
      return this.#phrase();
    this.degrees = false;
    const value = this.#union();
    const written = this.#unit();
    const unit = written || currency || (this.degrees ? 'degree' : '');
    this.degrees = false;
    const { name, factor } = unitOf(unit);
    const scaled = factor === 1 ? value : times(value, factor);
    return name === '' ? scaled : { type: 'quantity', value: scaled, unit: name };
  }

  #currency(): string {
    if (this.take('dollar', 'command')) return 'dollar';
    return this.is('sign') && /^[€£¥₹]$/.test(this.next!.text) ? this.advance().text : '';
  }

  #isJoint(): boolean {
    return this.is('word') && /^(?:or|and|is|are)$/.test(this.next!.text);
  }

  #phrase(): Expression {
    const words: string[] = [];
    while (this.next !== undefined && !this.#isJoint()) {
      if (this.is('sign') && /^(?:[,;)\]=<>|}&\\]|\\})$/.test(this.next.text)) break;
      words.push(this.advance().text.toLowerCase());
    }
    if (words.length === 0) throw new Unreadable();
    return { type: 'words', text: words.join(' ') };
  }

  /** Words with slashes and exponents between them, or a percent, degree or currency sign. */
  #unit(): string {
    if (this.take('%')) return '%';
    if (this.take('pmod', 'command')) return `mod ${this.#modulus()}`;
    let unit = this.take('°') || this.degrees ? '°' : this.#currency();
    for (;;) {
      const isSlash = unit !== '' && this.is('sign', '/') && this.is('word', undefined, 1);
      const isScale = unit === '°' && !this.is('sign') && /^[CF]$/.test(this.next?.text ?? '');
      if (isSlash || isScale) unit += this.advance().text;
      else if (this.is('word') && !this.#isJoint()) unit += ` ${this.advance().text}`;
      else if (unit !== '' && this.is('sign', '*') && this.is('word', undefined, 1)) this.advance();
      else if (unit !== '' && this.take('^')) {
        const exponent = writtenNumber(this.argument())?.value;
        if (exponent?.s === -1n) unit = unit.replace(/ ?(\S+)$/, '/$1');
        unit += `^${exponent?.abs().toFraction() ?? ''}`;
      } else return unit.trim();
    }
  }

  #modulus(): string {
    const modulus = writtenNumber(this.argument());
    if (modulus === undefined) throw new Unreadable();
    return modulus.value.toFraction();
  }

  #union(): Expression {
    const parts = [this.sum()];
    while (this.take('cup', 'command') || (this.isUnionLetter() && this.take('U', 'letter')))
      parts.push(this.sum());
    if (parts.length > 1) return collection('union', parts);
    return this.take('setminus', 'command') || this.take('backslash', 'command')
      ? apply('without', parts[0]!, this.sum())
      : parts[0]!;
  }

  protected group(opening: string): Expression {
    if (opening === '{') return this.#braced();
    if (opening === '|') return this.#bars();
    if (opening === '\\{') return this.#bracketed('{', { '\\}': '}' });
    if (opening === 'langle') return this.#bracketed('<', { rangle: '>' });
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
    const inner = this.#list();
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
    const { bars, sign } = this;
    const isInSet = this.#isInSet;
    this.bars = 0;
    this.#isInSet = open === '{';
    if (open === '{') this.sign = 'unread';
    const isEmpty = open === '{' && this.is('sign', '\\}');
    let inner = isEmpty ? collection('list', []) : this.#list();
    const isCondition = open === '{' && this.take(':');
    if (isCondition) inner = this.#list();
    this.bars = bars;
    this.sign = sign;
    this.#isInSet = isInSet;
    const closing = closings[this.advance().text];
    if (closing === undefined) throw new Unreadable();
    const parts = inner.type === 'collection' && inner.kind === 'list' ? inner.parts : undefined;
    if (isCondition) return inner;
    if (open === '{') return collection('set', parts ?? [inner]);
    return parts === undefined ? inner : collection(open + closing, parts);
  }

  #matrix(end: string): Expression {
    const rows: Expression[][] = [[]];
    while (!this.take(end, 'command')) {
      if (this.take('\\')) rows.push([]);
      else if (!this.take('&')) rows.at(-1)!.push(this.#quantity());
    }
    if (rows.at(-1)!.length === 0) rows.pop();
    if (end === 'endvmatrix') {
      const value = determinant(rows);
      if (value === undefined) throw new Unreadable();
      return value;
    }
    return collection(`matrix ${rows.map((row) => row.length).join(',')}`, rows.flat());
  }
}

function times(value: Expression, factor: number): Expression {
  if (value.type !== 'number') return apply('multiply', value, constant(factor));
  return { ...value, value: value.value.mul(factor) };
}

/**
 * The number that an answer writes out, whatever its unit: `-12`, `1,234.50`, `$5`, `1e3`, `3/4`, `1 3/4`, `\frac{3}{4}`, `5 cm`, `50%`.
 * `undefined` for anything else, also for what is still to be computed, and beyond 200 digits.
 */
export function numberOf(text: string): Fraction | undefined {
  if (text.length > 1000) return;
  const expression = readExpression(latexTokens(text, { commas: 'thousands' }));
  return expression && writtenNumber(expression.type === 'quantity' ? expression.value : expression)?.value;
}
