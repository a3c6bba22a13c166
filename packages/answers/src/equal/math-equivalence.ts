import { callback, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { areSameFamily, declaredAlike, primedAlike, underParametersOf } from './bound-variables.ts';
import { canonical } from './canonical.ts';
import { agreeAsFormulas } from './chemistry.ts';
import { choiceOf, chosenValue } from './choices.ts';
import { agreeCollections } from './collections.ts';
import { agreeAsDates } from './dates.ts';
import { agreeAsDiscrete } from './discrete.ts';
import { collection, type Expression, type Relation, writtenNumber } from './expression.ts';
import { readExpression } from './expression-reader.ts';
import { agreeInParts } from './labelled-parts.ts';
import { valueSaid, withoutLabel } from './labels.ts';
import { latexTokens, type Token, type TokenOptions } from './latex-tokens.ts';
import { numberOf } from './number-of.ts';
import {
  differByConstant,
  roundsTo,
  underConstantsOf,
  withoutBase,
  withoutThousands,
} from './other-forms.ts';
import { samePieces } from './piecewise.ts';
import { agreeQuantities } from './quantities.ts';
import { agreeRelations, haveOneVariable } from './relations.ts';
import { sameValues } from './same-values.ts';
import { type MathEquivalence, maximumLength, secretSeed, seedSchema } from './symbolic-equivalence.ts';
import { isUnit, isUnitOf } from './units.ts';
import { inUnitVectors } from './vectors.ts';

/** Schema of {@link MathAgreementOptions}. */
export const mathAgreementSchema = z.strictObject({
  /**
   * Form that a right value must have. `'simplified'`: fractions are reduced, and a number is written as one, so that `\frac{128}{2}` is
   * not 64, as in the graders of MATH and PRM800K. `'any'`: the value decides. Default `'any'`.
   */
  form: z.enum(['simplified', 'any']).optional(),
  /** Units that a right value may have. `'same'`: those of one size, such as J for N m. `'converted'`: also 120 min for 2 h, but no other scales of temperature or angles. Default `'same'`. */
  units: z.enum(['same', 'converted']).optional(),
  /** Further opinion, asked about answers that would be wrong. If it throws, they stay wrong. Default none. */
  equivalence: callback<MathEquivalence>().optional(),
  /** Seed of the points at which values are compared. Default: 128 random bits per process, which no policy knows. */
  seed: seedSchema,
});

/** Options of {@link mathAnswersAgree}. */
export interface MathAgreementOptions extends z.input<typeof mathAgreementSchema> {}

/** How deep collections in collections are compared. */
const maximumDepth = 4;

/**
 * Whether two LaTeX or plain answers mean the same: the same value, and the same kind of object.
 *
 * - Numbers and expressions are equal if they have the same value wherever they have one ({@link sameValues}). A decimal is equal to a
 *   fraction if it is exact.
 * - Lists and sets may be in any order. Tuples, intervals and matrices keep theirs. A bare list is a set, but not a tuple. Labels decide.
 * - An inequality for one variable is an interval. Equations are equal up to a factor. `x = 5`, `f(x) = 5` and `a + b = 5` are 5, but 5 is
 *   not an answer to `xy = 5`. `x = 1, y = 2` is `(1, 2)`.
 * - Answers in a whole number have the same values: `7k - 4` is `7k + 3`, and `3 \pmod 7`.
 * - Functions by cases are equal if they have the same values, at the edges too.
 * - A unit may be missing on one side. Two units must have one size: `N·m` is `J`, but 120 min is not 2 h, because the right answer names
 *   the unit that was asked for. Of `1 h 30 min` that is the first one.
 * - A percent sign may be missing on one side, as the graders of MATH have it: 50 is right for 50 %, and 50 % for 50. So is the value: 0.5 for
 *   50 %, and 500 % for 5.
 * - Choice letters count without brackets and without the text of the choice, and the text without the letter. Words are compared
 *   without case.
 *
 * Answers that cannot be read are compared as written, spacing aside, and so are answers of more than 1,000 characters.
 *
 * @param given - The policy's answer.
 * @param expected - The right answer.
 */
export function mathAnswersAgree(
  given: string,
  expected: string,
  options: MathAgreementOptions = {},
): boolean {
  requireArguments(
    'mathAnswersAgree',
    { given: 'text', expected: 'text', options: 'object?' },
    given,
    expected,
    options,
  );
  if (given.trim() === '' || expected.trim() === '') return false;
  if (Math.max(given.length, expected.length) > maximumLength) return given.trim() === expected.trim();
  if ((isOneOf(given) && isBoth(expected)) || isUnworked(given, expected)) return false;
  const said = restatement
    .exec(given.replace(/\\text\s*\{([^{}]*)\}/g, '$1'))
    ?.slice(1)
    .filter(Boolean);
  if (said !== undefined && isSaidTwice(said, expected, options)) return true;
  const [own, right] = [given, expected].map(connectives);
  const discrete = agreeAsDiscrete(given, expected);
  if (discrete !== undefined || (own !== '' && right !== '' && own !== right)) return discrete === true;
  const again = (one: string, other: string) => mathAnswersAgree(one, other, options);
  const verdict =
    agreeAsDates(given, expected) ?? agreeInParts(given, expected, again) ?? agreeAsFormulas(given, expected);
  if (verdict !== undefined) return verdict;
  if (point.test(given) && /^\s*(?:\\left\s*)?\(/.test(expected))
    return again(given.replace(point, ''), expected);
  if (/\bor\b/.test(given) && /\)\s*,\s*\(/.test(expected) && given.search(pairsNamed) >= 0)
    return again(
      given
        .replace(pairsNamed, (_, a, x, b, y) => (a < b ? `(${x}, ${y})` : `(${y}, ${x})`))
        .replace(/^either\s|,?\s*\bor\b/gi, ','),
      expected,
    );
  if (/^[^\d,]*\d+,00\D*$/.test(given) && !expected.includes(','))
    return again(given.replace(',00', ''), expected);
  if (decimalComma.test(given) && /^[^\d([]*\d+\.\d+[^\d)\]]*$/.test(expected))
    return again(given.replace(decimalComma, '$1.$2'), expected);
  if (
    decimalComma.test(expected) &&
    /[€£$%]|\d\s?[a-z]/i.test(expected) &&
    /^[^\d([]*\d+\.\d+[^\d)\]]*$/.test(given)
  )
    return again(given, expected.replace(decimalComma, '$1.$2'));
  if (lakhs.test(given) && /^\D*\d[\d,]*\D*$/.test(expected))
    return again(given.replaceAll(',', ''), expected);
  const { form = 'any', units = 'same', seed = secretSeed() } = options;
  const comparison = { form, units, seed };
  if (agreeAs({ commas: 'thousands' }, given, expected, comparison)) return true;
  const both = `${given} ${expected}`;
  const hasCommas = /\d,\d{3}/.test(both) && !/,0\d/.test(both);
  if (hasCommas && agreeAs({ commas: 'list' }, given, expected, comparison)) return true;
  try {
    return options.equivalence?.(given, expected) === true;
  } catch {
    return false;
  }
}

/** A value that is said in two ways: `20 m/s, or 72 km/h`, `18 dollars, i.e. $18.00`, `7 (seven)`. */
const restatement =
  /^((?:[^,;]|,(?=\d))+?),?\s(?:(?:or|i\.e\.|that is),?\s((?:[^,;]|,(?=\d))+)|\(([^()]+)\))$/;

/** Whether both are right, or one is and has the measure of the other. */
function isSaidTwice(said: readonly string[], expected: string, options: MathAgreementOptions): boolean {
  const right = said.filter((one) => mathAnswersAgree(one, expected, options));
  const areMeasures = said.every((one) => /\d[^%]*[a-z°]|π|[$€£¥₹]\s?\d/i.test(one));
  return (
    right.length === 2 ||
    (right.length === 1 &&
      areMeasures &&
      (mathAnswersAgree(said[0]!, said[1]!, { ...options, units: 'converted' }) ||
        areOneAngle(said[0]!, said[1]!)))
  );
}

/** Whether two values are one angle in degrees and in radians: `60 degrees` and `π/3 radians`. */
export function areOneAngle(one: string, other: string): boolean {
  const [degrees, radians] = /°|deg|circ/.test(one) ? [one, other] : [other, one];
  const size = /°|deg|circ/.test(degrees) && /π|\\pi/.test(radians) ? numberOf(degrees) : undefined;
  const turned = size && `\\frac{${size.s * size.n}\\pi}{${180n * size.d}}`;
  return turned !== undefined && mathAnswersAgree(radians.replace(/\s*rad(?:ians?)?\b/, ''), turned);
}

/** Values or names that "or" joins, which leaves open which of them is meant; `x = 1 or x = 2` names all solutions. */
const isOneOf = (answer: string) => /\bor\b/i.test(answer) && !/\band\b|[=<>]|\\[lg]e|\\in\b/i.test(answer);
/** Whether an answer ends with a determinant, which the question may give, for a right answer without one. */
const isUnworked = (given: string, expected: string) =>
  determinant.test(given.slice(given.lastIndexOf('=') + 1)) && !determinant.test(expected);
const determinant = /\\det(?![a-z])|\{vmatrix\}|(?:\||\\l?vert)\s*\\begin/;
const isBoth = (answer: string) => /\band\b/i.test(answer) && !/\bor\b/i.test(answer);

/** The signs of logic in an answer: `&` and `|`. */
function connectives(answer: string): string {
  const signs = answer.match(/\\(?:land|wedge|lor|vee)(?![a-zA-Z])|[∧∨]/g) ?? [];
  return signs.map((sign) => (/land|wedge|∧/.test(sign) ? '&' : '|')).join('');
}

/** The name of a point, `P` in `P(3, -4)`. */
const point = /^\s*[A-Z]\s*(?=(?:\\left\s*)?\([^()]*[,;])/;

/** `x = 1 and y = 2`, one of several. */
const pairsNamed =
  /([a-z])\s*=\s*([^,;=()]+?)\s*(?:,|\band\b)\s*([a-z])\s*=\s*([^,;=()]+?)(?=\s*(?:,?\s*\bor\b|;|$))/g;

/** `3,14` or `€3,14`, for a right answer of `3.14`. */
const decimalComma = /^(?!.*\\\{)([^\d,([]*\d+)(?:,|\{,\})(\d{1,2}[^\d,)\]]*)$/;

/** `12,34,567`, for a right answer of one number. */
const lakhs = /^\D*\d{1,2}(?:,\d\d)+,\d{3}\D*$/;

interface Comparison {
  readonly form: 'simplified' | 'any';
  readonly units: 'same' | 'converted';
  readonly seed: string;
}

function agreeAs(reading: TokenOptions, given: string, expected: string, comparison: Comparison): boolean {
  const right = latexTokens(expected, reading);
  const left = latexTokens(given, reading);
  if (right.length === 0 || left.length === 0) return false;
  if (textOf(left) === textOf(right)) return true;
  const choice = choiceOf(right);
  const own = choiceOf(left);
  if (choice !== undefined && choice === own) return true;
  if (isName(left) && isName(right)) return false;
  if (areSameWords(left, right)) return true;
  const chosen = choice === undefined ? chosenValue.exec(given)?.[1] : undefined;
  if (chosen !== undefined && agreeAs(reading, chosen, expected, comparison)) return true;
  const behind = choice !== undefined && own === undefined ? chosenValue.exec(expected)?.[1] : undefined;
  if (behind !== undefined && agreeAs(reading, given, behind, comparison)) return true;
  const [a, b] = readBoth([given, expected], [left, right], reading);
  if (a !== undefined && b !== undefined && agreeExpressions(a, b, comparison)) return true;
  const isNumber = [left, right].map((tokens) => tokens.every(isOfNumbers));
  if (![left, right].every((tokens, index) => isNumber[index] || isMeasure(tokens, isNumber[1 - index]!)))
    return false;
  const [measure, other] = [given, expected].map((text) =>
    readExpression(latexTokens(text, { ...reading, isUnit })),
  );
  if (measure === undefined || other === undefined) return false;
  const areRead = [measure, other].every(({ type }, index) => isNumber[index] || type === 'quantity');
  return areRead && agree(measure, other, comparison, maximumDepth);
}

function agreeExpressions(given: Expression, expected: Expression, comparison: Comparison): boolean {
  if (!haveOneVariable(given, expected)) return false;
  const [a, b] = declaredAlike(...primedAlike(given, expected));
  return (
    roundsTo(a, b) ||
    underParametersOf(canonical(a), canonical(b)).some((own) =>
      agree(own, canonical(b), comparison, maximumDepth),
    ) ||
    (a.type === 'relation' && b.type === 'relation' && agreeRelations(a, b, comparison.seed, () => false))
  );
}

/** A piece of a number without letters: `4.5 \\times 10^3`, `\\frac{1}{2}`. */
const isOfNumbers = ({ kind, text }: Token) => kind === 'number' || /^(?:[-+*^/{}().]|frac|sqrt)$/.test(text);

/** A number with letters behind it, such as `20 m/s`, which may be units. Beside a number alone, white space has to part them. */
function isMeasure(tokens: readonly Token[], isParted: boolean): boolean {
  const begin = tokens.findIndex(({ kind }) => kind === 'letter' || kind === 'word');
  const isPlain = ({ kind, text }: Token) => kind === 'number' || /^[*^{}-]$/.test(text);
  return (
    tokens[0]?.kind === 'number' &&
    begin > 0 &&
    (tokens[begin]!.spaced || !isParted) &&
    tokens.slice(0, begin).every(isPlain) &&
    tokens.slice(begin).every((token) => isPlain(token) || /^[a-z/]+$/i.test(token.text))
  );
}

/** Tokens as text, without braces around one token. */
function textOf(tokens: readonly Token[]): string {
  const text = tokens.map((token) => token.text).join(' ');
  return text.replaceAll(/\{ (\S+) \}/g, '$1');
}

/** `ABC`, whose letters have an order. */
const isName = (tokens: readonly Token[]) =>
  tokens.length > 1 && tokens.every(({ kind, text }) => kind === 'letter' && /[A-Z]/.test(text));

/** Words without regard to case, one of them at least known as such. */
function areSameWords(...answers: readonly (readonly Token[])[]): boolean {
  const isText = answers.every((tokens) => tokens.every(({ kind }) => kind === 'word' || kind === 'letter'));
  const hasWord = answers.some((tokens) =>
    tokens.some(({ kind, text }) => kind === 'word' && text.length > 1),
  );
  const [first, second] = answers.map((tokens) => textOf(tokens).replaceAll(' ', '').toLowerCase());
  return isText && hasWord && first === second;
}

/** Both answers as expressions. Letters that are a unit of one, such as the `m` of `5\text{ m}`, are a unit of the other. */
function readBoth(
  texts: readonly string[],
  tokens: readonly (readonly Token[])[],
  reading: TokenOptions,
): (Expression | undefined)[] {
  const read = tokens.map((answer) => readExpression(answer));
  return read.map((expression, index) => {
    const other = read[1 - index];
    const measure = other?.type === 'relation' ? other.sides.at(-1)! : other;
    if (measure?.type !== 'quantity' || expression?.type === 'quantity') return expression;
    const isOfUnit = (letters: string) => isUnitOf(letters, measure.unit);
    return readExpression(latexTokens(texts[index]!, { ...reading, isUnit: isOfUnit }));
  });
}

function agree(given: Expression, expected: Expression, comparison: Comparison, depth: number): boolean {
  if (depth === 0) return false;
  const again = (a: Expression, b: Expression) => agree(a, b, comparison, depth - 1);
  if (given.type === 'relation' && expected.type === 'relation')
    return agreeRelations(given, expected, comparison.seed, again);
  if (given.type === 'relation' || expected.type === 'relation') {
    const labelled = given.type === 'relation' ? withoutLabel(given) : [given];
    const values =
      given.type === 'relation' && labelled.length === 0
        ? isIdentity(given, comparison.seed)
          ? given.sides.slice(-1)
          : valueSaid(given)
        : labelled;
    const rights = expected.type === 'relation' ? withoutLabel(expected) : [expected];
    return (
      values.length > 0 &&
      rights.length > 0 &&
      values.every((value) => rights.every((right) => again(value, right)))
    );
  }
  if (isByCases(given) || isByCases(expected)) return samePieces(given, expected, comparison.seed);
  if (given.type === 'quantity' || expected.type === 'quantity')
    return agreeQuantities(given, expected, { again, units: comparison.units });
  if (given.type === 'words' || expected.type === 'words') {
    return spelled(given) === spelled(expected);
  }
  if (given.type === 'apply' && given.name === 'binomial' && isTuple(expected)) {
    return agree(collection('()', given.args), expected, comparison, depth);
  }
  if (given.type === 'collection' && expected.type === 'collection')
    return agreeCollections(given, expected, again);
  if (given.type === 'collection' || expected.type === 'collection') {
    const [vector, sum] = given.type === 'collection' ? [given, expected] : [expected, given];
    if (vector.type === 'collection' && vector.kind === 'set' && vector.parts.length === 1)
      return again(vector.parts[0]!, sum);
    const other = inUnitVectors(vector, sum);
    return other !== undefined && again(other, sum);
  }
  const written = withoutThousands(withoutBase(given, expected), expected);
  if (comparison.form !== 'any' && !hasForm(given, expected)) return false;
  return underConstantsOf(written, expected).some(
    (value) =>
      sameValues(value, expected, comparison) ||
      areSameFamily(value, expected) ||
      differByConstant(value, expected, comparison.seed),
  );
}

/** Whether an equation only rewrites an expression: `(x+1)^2 - 2x = x^2 + 1`. */
const isIdentity = ({ operators, sides: [first, ...others] }: Relation, seed: string) =>
  operators.every((operator) => operator === '=') &&
  [first!, ...others].every(({ type }) => type === 'apply') &&
  others.every((side) => sameValues(first!, side, { seed }));

const isTuple = (side: Expression) => side.type === 'collection' && side.kind === '()';
const isByCases = (side: Expression) => side.type === 'collection' && side.kind === 'cases';

/** Words, or letters that are read as a product: `\text{Bob}` and `Bob`. Nothing else is a word. */
function spelled(expression: Expression): string {
  if (expression.type === 'words') return expression.text.replaceAll(' ', '');
  if (expression.type === 'symbol') return expression.name.toLowerCase();
  const isProduct = expression.type === 'apply' && expression.name === 'multiply';
  return isProduct ? expression.args.map(spelled).join('') : '\n';
}

/** Whether a number is written as simply as the right one. */
function hasForm(given: Expression, expected: Expression): boolean {
  const [written, right] = [writtenNumber(given), writtenNumber(expected)];
  if (right === undefined) return true;
  if (written === undefined) return right.notation !== 'integer';
  if (written.notation === 'decimal' || written.notation === 'integer') return true;
  return right.value.d !== 1n && (written.notation === 'mixed' || !written.isReducible);
}
