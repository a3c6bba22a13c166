import { type AST, RegExpParser } from '@eslint-community/regexpp';
import { type MatchCost, Positions } from './positions.ts';

/** Part of a pattern as a Glushkov automaton: its states are the places of characters in the pattern. */
interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  /** Matches the empty text, perhaps under conditions such as `$`. */
  readonly nullable: boolean;
  /** Those of `last` after which the part is matched without further conditions. */
  readonly freeLast: readonly number[];
  readonly freeNullable: boolean;
}

const nothing: Part = { first: [], last: [], nullable: true, freeLast: [], freeNullable: true };
/** Matches the empty text if a condition holds. */
const condition: Part = { ...nothing, freeNullable: false };

/** Repetitions up to this many are written out. Others count as unlimited. */
const maxCopies = 4;
const maxPositions = 2000;

/**
 * Judges a regular expression before it runs on foreign text.
 *
 * An expression that backtracks is slow when one text can be matched along many ways and none succeeds. With one cycle that has
 * two ways through it the ways multiply at each turn. With two cycles in a row that take the same characters they add up.
 * Cycles after which the match is complete are harmless, because the first way succeeds.
 *
 * @see Weideman et al. 2016, https://doi.org/10.1007/978-3-319-40946-7_27
 */
export function matchCost({ source, flags }: RegExp): MatchCost {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const found: MatchCost[] = [];
  costOf(pattern.alternatives, flags, found);
  if (found.includes('exponential')) return 'exponential';
  return found.includes('polynomial') ? 'polynomial' : 'linear';
}

/** Judges alternatives, and what they look ahead or back for. */
function costOf(alternatives: readonly AST.Alternative[], flags: string, found: MatchCost[]): void {
  const builder = new Builder(flags, found);
  try {
    const { freeLast } = builder.either(alternatives);
    found.push(builder.positions.cost(new Set(freeLast)));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    found.push('polynomial'); // too large to judge
  }
}

class Builder {
  readonly positions: Positions;
  readonly #flags: string;
  readonly #found: MatchCost[];

  constructor(flags: string, found: MatchCost[]) {
    this.positions = new Positions(flags);
    this.#flags = flags;
    this.#found = found;
  }

  either(alternatives: readonly AST.Alternative[]): Part {
    const parts = alternatives.map(({ elements }) =>
      this.#sequence(elements.map((each) => () => this.#part(each))),
    );
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      nullable: parts.some(({ nullable }) => nullable),
      freeLast: parts.flatMap(({ freeLast }) => freeLast),
      freeNullable: parts.some(({ freeNullable }) => freeNullable),
    };
  }

  #sequence(parts: readonly (() => Part)[]): Part {
    return parts.reduce<Part>((before, make) => {
      const after = make();
      this.positions.connect(before.last, after.first);
      return {
        first: before.nullable ? [...before.first, ...after.first] : before.first,
        last: after.nullable ? [...before.last, ...after.last] : after.last,
        nullable: before.nullable && after.nullable,
        freeLast: after.freeNullable ? [...before.freeLast, ...after.freeLast] : after.freeLast,
        freeNullable: before.freeNullable && after.freeNullable,
      };
    }, nothing);
  }

  #part(element: AST.Element): Part {
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass': {
        if (this.positions.size >= maxPositions) throw new RangeError('too many positions');
        const position = [this.positions.add(element.raw)];
        return { first: position, last: position, nullable: false, freeLast: position, freeNullable: false };
      }
      case 'Group':
        return this.either(element.alternatives);
      case 'CapturingGroup':
        return this.either(element.alternatives);
      case 'Quantifier':
        return this.#repeated(element);
      case 'Assertion':
        if ('alternatives' in element) costOf(element.alternatives, this.#flags, this.#found);
        return condition;
      case 'Backreference':
        // It takes a text of any length, which no automaton can count.
        this.#found.push('polynomial');
        return condition;
      default:
        return condition;
    }
  }

  #repeated({ element, min, max }: AST.Quantifier): Part {
    const once = () => this.#part(element);
    if (max === 0) return nothing;
    if (max <= maxCopies) {
      const optional = () => asOptional(once());
      return this.#sequence(Array.from({ length: max }, (_, index) => (index < min ? once : optional)));
    }
    const required = Math.min(Math.max(min - 1, 0), maxCopies);
    const loop = () => {
      const part = once();
      this.positions.connect(part.last, part.first);
      return min === 0 ? asOptional(part) : part;
    };
    return this.#sequence([...Array.from({ length: required }, () => once), loop]);
  }
}

function asOptional(part: Part): Part {
  return { ...part, nullable: true, freeNullable: true };
}
