import { mathAnswersAgree } from '../equal/math-equivalence.ts';
import { numberOf } from '../equal/number-of.ts';
import { isUnit } from '../equal/units.ts';

/** What joins the sides of a chain. */
const sign = /^(?:[=≈≡]|\\(?:equiv|approx)(?![a-zA-Z]))/;

/** What leads from one equation to the next. */
const implication = /\\(?:implies|Rightarrow|Longrightarrow|iff)(?![a-zA-Z])|⇒|(?<!\b[a-z]\s?)→/;

const bracketed = /\{[^{}]*\}|\([^()]*\)|\[[^[\]]*\]/g;

const words = /\\(?:text|mbox)\s*\{([^{}]*)\}/g;

/** Several values or conditions: `x = 1, y = 2`. */
const several = /(?<!\\)[,;](?!\\!|\s?\d{3}(?!\d))\s*\S|(?<![a-zA-Z])(?:and|or|for|if)(?![a-z]{2})/;

/** A formula with a unit behind its signs. */
const measured = /^\s*\$([^$]*=[^$]*)\$(?=\s?[a-zA-Z°][\w/^²³]*\.?$)/;

const longest = 2000;

/** Environments whose last row says the result. */
const rows = /^(?:align|aligned|equation|gather|gathered|eqnarray|split|multline)\*?$/;

/**
 * The result of a chain of equations, without the signs around it: `3` of `$x + 1 = 2 + 1 = 3.$` and of `$2 + 1 = 3$`. Other single equations stay
 * whole, as does what has several values, such as `17 = 18`. A decimal keeps the value that it rounds.
 */
export function lastSide(given: string): string {
  if (given.length > longest) return given;
  const formula = given.replace(measured, '$1');
  const bare = formula.replace(/^\s*(?:\$\$?|\\[[(])|(?:\$\$?|\\[\])])\s*$/g, '').replace(/[.,;:\s]+$/, '');
  const whole = formula.replace(/[.,;:\s]+(?=(?:\$\$?|\\[\])])\s*$)/, '');
  if (several.test(bare.replace(words, ' $1 ').replace(bracketed, '').replace(bracketed, ''))) return whole;
  const [, tending = '', limit] =
    /^(.*)\\(?:to|(?:long)?rightarrow)(?![a-zA-Z])([^{}=]*|\s*\\[dt]?frac.*)$/.exec(bare) ?? [];
  if (limit !== undefined && /[\\\d_^]/.test(tending) && !/[A-Z]|\\to/.test(tending)) return limit.trim();
  const equations = bare.split(implication);
  const sides = sidesOf(equations.at(-1)!);
  const step = bare.split(/[⟹⇔⟺]/).at(-1)!;
  if (step !== bare && /^[^=≈]*[<>≤≥][^=≈]*$/.test(step)) return step.trim();
  if (equations.length > 1 && sides.length === 2) return equations.at(-1)!.trim();
  const isGoingOn = /^\s*$|\\[lc]?dots|…|\.{3}|[∫∑∩∪]|\)['’′]|\\(?:int|cap|cup)(?![a-z])/.test(sides[0]!);
  const isEquation = sides.length === 2 && !isGoingOn && sides.some((side) => variablesIn(side) > 0);
  if (sides.length === 1 || isEquation || haveSeveralNumbers(sides)) return whole;
  const last = sides.at(-1)!.trim();
  const isRounded = /(?:\\approx|≈)[^=]*\.\d[^=]*$/.test(bare) && variablesIn(sides.at(-2)!) === 0;
  return isRounded
    ? `${sides.at(-2)!.trim()} \\approx ${last}`
    : last.replace(/\s*(?:\\pmod|\(mod\b).*$/, '');
}

/** Whether sides are different numbers as they stand. Remainders may be. */
function haveSeveralNumbers(sides: readonly string[]): boolean {
  if (/\\pmod|\(mod\b/.test(sides.at(-1)!)) return false;
  const numbers = sides.filter((side) => numberOf(side) !== undefined);
  return numbers.some((one) => !mathAnswersAgree(one, numbers[0]!, { units: 'converted' }));
}

/** How many letters a formula has, each counted once. */
function variablesIn(formula: string): number {
  if (/(?:\\|\b)(?:lim|int|sum|prod)(?![a-zA-Z])/.test(formula)) return 0;
  const plain = formula.replaceAll(
    /\\(?:text|mbox|mathrm)\s*\{[^{}]*\}|\\[a-zA-Z]+|[a-zA-Z]\([\d,.\s]+\)|\b(?:ln|log|sin|cos|tan|sqrt|pi)\b|\be(?=[\^¹²³⁰-⁹⁻])|(?<=\d\s)([a-zA-Z]+)(?:\/[a-zA-Z]+)?/g,
    (whole, unit?: string) => (unit === undefined || isUnit(unit) ? ' ' : whole),
  );
  return new Set(plain.match(/[a-zA-Z]/g)).size;
}

/** Parts between the signs that stand in no braces or brackets. */
function sidesOf(formula: string): string[] {
  const sides: string[] = [];
  let [start, depth] = [0, 0];
  for (let at = 0; at < formula.length; at++) {
    const character = formula[at]!;
    if ('{(['.includes(character)) depth += 1;
    else if ('})]'.includes(character)) depth -= 1;
    const found = depth === 0 && /[=\\≈≡]/.test(character) ? sign.exec(formula.slice(at, at + 20)) : null;
    if (found === null || /[<>!:]/.test(formula[at - 1] ?? '')) continue;
    sides.push(formula.slice(start, at));
    start = at + found[0].length;
    at = start - 1;
  }
  return [...sides, formula.slice(start)];
}

/** The last row of a display whose rows are a calculation, without the signs around it. Other formulas stay whole. */
export function lastRow(display: string): string {
  const body = display.trim().replace(/^(?:\$\$|\\\[)\s*|\s*(?:\$\$|\\\])$/g, '');
  const [, environment, inside = body] = /^\\begin\{([a-z]+\*?)\}([\s\S]*)\\end\{\1\}$/.exec(body) ?? [];
  if (environment === undefined ? inside.includes('\\begin') : !rows.test(environment)) return display;
  const lines = inside
    .split(/\\\\(?:\[[^\]\n]{0,10}\])?/)
    .map((row) => row.replaceAll(/&|\\q?quad/g, ' ').trim())
    .filter((row) => row !== '');
  const last = lines.at(-1) ?? display;
  return lines.length > 1 && !/[=≈]|\\(?:equiv|approx)/.test(last) ? display : last;
}
