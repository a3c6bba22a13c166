import { mathAnswersAgree } from '../equal/math-equivalence.ts';
import { type UnitOfWords, unitOf } from '../equal/units.ts';

/** A number with the words behind it. */
export interface Measured {
  readonly number: string;
  readonly words: string;
}

/**
 * Whether what stands beside a number says the same: as another formula (`1024`, `2^{10}`), or in another unit (`68 inches`, `5 feet 8 inches`).
 * `undefined` if that cannot be told. Units of different kinds, such as euros and dollars, are taken to be converted.
 *
 * @param text - What stands there, up to the end of its line.
 * @param currency - Sign before it, if there is one.
 */
export function isRestated(
  { number, words }: Measured,
  text: string,
  currency: string | undefined,
): boolean | undefined {
  const other = formulaAt(text);
  const isEqual = [other, `${other} \\approx ${number}`].some((said) => mathAnswersAgree(said, number));
  if (isEqual || mathAnswersAgree(number, other)) return true;
  const { count, behind = '', further } = measured.exec(text)?.groups ?? {};
  const mine = unitIn(words);
  const theirs = currency === undefined ? unitIn(behind) : unitOf(currency);
  if (count === undefined || mine === undefined || theirs === undefined) return undefined;
  if (mine.name !== theirs.name) return true;
  if (mine.scale.equals(theirs.scale)) return undefined;
  const value = Number(number) * mine.scale.div(theirs.scale).valueOf();
  const least = Number(count.replaceAll(',', ''));
  if (further === undefined) return Math.abs(value / least - 1) < 0.1;
  const whole = other.replace(/ and (?=\d)/, ' ');
  // Of `1h30`, what is behind the hours is not read.
  return /\d$/.test(whole)
    ? least <= value && value < least + 1
    : mathAnswersAgree(whole, `${number} ${words}`, { units: 'converted' });
}

/** A number, the words behind it, and whether a number follows these. */
const measured =
  /^(?<count>\d[\d,]*(?:\.\d+)?)\s?(?<behind>[°\p{L}][\p{L}°/²³]*(?:\^\d)?(?: \p{L}+){0,2})?(?<further>\s?\d)?/u;

/** The unit that one, two or three words are, if it is known. */
function unitIn(text: string): UnitOfWords | undefined {
  const words = text.split(' ').slice(0, 3);
  for (let many = words.length; many > 0; many--) {
    // Without an end behind it, "in" is no inch.
    if (many < words.length && words[many - 1] === 'in') continue;
    const unit = unitOf(words.slice(0, many).join(' '));
    if (unit.name !== '' && !/[~?]/.test(unit.name)) return unit;
  }
  return undefined;
}

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** A formula at the beginning of a text, up to the end of its clause or of the bracket that it stands in. */
function formulaAt(text: string): string {
  const open: string[] = [];
  for (let at = 0; at < Math.min(text.length, 60); at++) {
    const sign = text[at]!;
    const isOver = /[)\]}]/.test(sign)
      ? open.pop() !== sign
      : /^(?:[\n;$]|\*\*|[,.](?:\s|$))/.test(text.slice(at, at + 2));
    if (isOver && (open.length === 0 || sign !== ',')) return text.slice(0, at).trim();
    if (Object.hasOwn(closers, sign)) open.push(closers[sign]!);
  }
  return text.slice(0, 60).trim();
}
