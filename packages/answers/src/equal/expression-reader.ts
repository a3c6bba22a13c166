import { BracketReader } from './bracket-reader.ts';
import { apply, collection, constant, type Expression, type Quantity, writtenNumber } from './expression.ts';
import type { Token } from './latex-tokens.ts';
import { Unreadable } from './token-cursor.ts';
import { unitOf } from './units.ts';

const relations: ReadonlySet<string> = new Set('= < > le ge ne in approx equiv is are'.split(' '));

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
class Reader extends BracketReader {
  readAll(): Expression {
    const expression = this.list();
    if (this.next !== undefined) throw new Unreadable();
    return expression;
  }

  /** Items between commas, semicolons, "or" and "and". */
  protected list(): Expression {
    return this.nest(() => {
      const parts = this.#item();
      let kind = 'list';
      for (;;) {
        const hasComma = this.take(',') || this.take(';');
        const isAll = this.take('and', 'word');
        if (isAll && !hasComma) kind = 'all';
        const isEither = !isAll && this.take('or', 'word');
        if (isEither) kind = 'either';
        if (!hasComma && !isAll && !isEither) break;
        parts.push(...this.#item());
      }
      return parts.length === 1 ? parts[0]! : collection(kind, parts);
    });
  }

  /** One relation or value; two, if it has a plus-minus sign. */
  #item(): Expression[] {
    if (this.sign !== 'unread') return [this.relation()];
    const { at, hasBothSigns } = this;
    this.hasBothSigns = false;
    this.sign = 'plus';
    const items = [this.relation()];
    if (this.hasBothSigns) {
      this.at = at;
      this.sign = 'minus';
      items.push(this.relation());
    }
    this.sign = 'unread';
    this.hasBothSigns = hasBothSigns;
    return items;
  }

  protected relation(): Expression {
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

  /** `3:4` is a quotient, and `3:4:5` has two, except in a set, where a colon begins its condition. */
  #ratio(): Expression {
    const values = [this.quantity()];
    while (!this.isInSet && this.take(':')) values.push(this.quantity());
    const quotients = values.slice(1).map((value, index) => apply('divide', values[index]!, value));
    return quotients.length < 2 ? (quotients[0] ?? values[0]!) : collection('ratio', quotients);
  }

  /** A value with its currency or unit, or a phrase. */
  protected quantity(): Expression {
    const currency = this.#currency();
    if (this.is('word') && (this.next!.text.length > 1 || this.is('word', undefined, 1)))
      return this.#phrase();
    this.degrees = false;
    const value = this.#union();
    const unit = withCurrency(this.#unit() || (this.degrees ? '°' : ''), currency);
    this.degrees = false;
    const { name, factor, scale } = unitOf(unit);
    const scaled = factor === 1 ? value : times(value, factor);
    return name === '' ? scaled : this.#withRemainder({ type: 'quantity', value: scaled, unit: name, scale });
  }

  /** `2 hours 15 minutes`, `5 dollars and 50 cents`: a number of a smaller unit behind one of a larger. */
  #withRemainder(whole: Quantity): Quantity {
    const { at } = this;
    this.take('and', 'word');
    if (this.is('number') && writtenNumber(whole.value)?.notation === 'integer') {
      const rest = this.quantity();
      const size =
        rest.type === 'quantity' && rest.unit === whole.unit ? rest.scale.div(whole.scale) : undefined;
      const part = size && rest.type === 'quantity' ? writtenNumber(rest.value)?.value.mul(size) : undefined;
      if (part?.lt(1) === true && part.s >= 0n)
        return { ...whole, value: apply('add', whole.value, constant(part)) };
    }
    this.at = at;
    return whole;
  }

  #currency(): string {
    if (this.take('dollar', 'command')) return '$';
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
}

/** The unit of `$5`, `$5 million`, `$5 per hour` and `$5 USD`. */
function withCurrency(unit: string, currency: string): string {
  if (currency === '' || unit === '') return unit || currency;
  const { name } = unitOf(unit);
  const isWhole = name === currency || /^[^~^-]*(?:\^\d)?$/.test(name);
  return name !== '' && isWhole ? unit : `${unit} ${currency}`;
}

function times(value: Expression, factor: number): Expression {
  if (value.type !== 'number') return apply('multiply', value, constant(factor));
  return { ...value, value: value.value.mul(factor) };
}
