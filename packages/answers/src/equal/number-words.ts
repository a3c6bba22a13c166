const small =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const scales: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9 };
const counts: Readonly<Record<string, number>> = { ...scales, dozen: 12, hundred: 100, trillion: 1e12 };

/** What a word such as `dozens` or `million` multiplies the number before it by. */
export function scaleOfWord(word: string): number | undefined {
  const name = word.replace(/s$/, '');
  return Object.hasOwn(counts, name) ? counts[name] : undefined;
}

/**
 * A whole number in English words: `twelve`, `one hundred and five`, `forty-two`, `twelve hundred`. `undefined` for other words, and for
 * words that do not make one number, such as `one two`.
 */
function numberInWords(text: string): number | undefined {
  let [total, group, scale] = [0, 0, Number.POSITIVE_INFINITY];
  /** Values below this may follow. */
  let room = 1000;
  let before = '';
  for (const word of text.split(/[\s-]+/)) {
    const value = valueOfWord(word);
    if (value !== undefined && value < room && (value > 0 || before === '')) {
      group += value;
      room = value < 20 ? 0 : 10;
    } else if (word === 'hundred' && group > 0 && group < 100) [group, room] = [100 * group, 100];
    else if ((scales[word] ?? scale) < scale && group > 0) {
      scale = scales[word]!;
      [total, group, room] = [total + group * scale, 0, 1000];
    } else if (word !== 'and' || !/^(?:hundred|thousand|million|billion)$/.test(before)) return;
    before = word;
  }
  return before === 'and' ? undefined : total + group;
}

/** The value of a word below one hundred. */
function valueOfWord(word: string): number | undefined {
  const [unit, ten] = [small.indexOf(word), tens.indexOf(word)];
  if (unit >= 0) return unit;
  return ten > 1 ? 10 * ten : undefined;
}

const denominators = new Map(
  'half 2|third 3|quarter 4|fourth 4|fifth 5|sixth 6|seventh 7|eighth 8|ninth 9|tenth 10|twelfth 12|twentieth 20|hundredth 100|thousandth 1000'
    .split('|')
    .map((line) => line.split(' ') as [string, string]),
);

const counted = (text: string) => numberInWords(text.replace(/^an?(?= |$)/, 'one'));

/** A number in English words as LaTeX: whole numbers, fractions, mixed numbers, decimals, dozens, and what is below zero. */
export function valueInWords(text: string): string | undefined {
  const negated = /^(?:minus|negative) (?!minus|negative)(.+)$/.exec(text)?.[1];
  const value = negated === undefined ? undefined : valueInWords(negated);
  if (value !== undefined) return `-${value}`;
  const whole =
    (/ /.test(text) ? counted(text) : numberInWords(text)) ?? wholeOfDozens(text) ?? decimalInWords(text);
  if (whole !== undefined) return String(whole);
  const [, number, part = text] =
    /^(.+) and ((?:an?|one|two|three|four|five|six|seven) \w+)$/.exec(text) ?? [];
  const fraction = fractionInWords(part);
  if (fraction === undefined || number === undefined) return fraction;
  const before = counted(number);
  return before === undefined ? undefined : `${before}${fraction}`;
}

/** `three quarters`, `a half`, `half`. An ordinal alone, such as `third`, is none. */
function fractionInWords(text: string): string | undefined {
  const at = Math.max(text.lastIndexOf(' '), text.lastIndexOf('-'));
  const name = text
    .slice(at + 1)
    .replace('halves', 'half')
    .replace(/s$/, '');
  const denominator = denominators.get(name);
  if (denominator === undefined) return;
  const count = at < 0 ? (/^(?:half|quarter)$/.test(text) ? 1 : undefined) : counted(text.slice(0, at));
  return count === undefined ? undefined : `\\frac{${count}}{${denominator}}`;
}

function wholeOfDozens(text: string): number | undefined {
  if (text === 'half a dozen') return 6;
  const count = /^(.+) dozens?$/.exec(text)?.[1];
  const number = count === undefined ? undefined : counted(count);
  return number === undefined ? undefined : 12 * number;
}

/** `three point one four`. */
function decimalInWords(text: string): string | undefined {
  const [before, digits] = text.split(/(?:^| )point /);
  const read = digits?.split(' ').map((word) => small.indexOf(word)) ?? [-1];
  const whole = before === '' ? 0 : counted(before!);
  return read.every((digit) => digit >= 0 && digit < 10) && whole !== undefined
    ? `${whole}.${read.join('')}`
    : undefined;
}

/** `fifteen percent` and `three hours`: a number and the words behind it. */
export function withUnitInWords(text: string): string | undefined {
  const words = text.split(/\s+/);
  for (let count = Math.min(words.length - 1, 8); count > 0; count--) {
    const unit = words.slice(count);
    if (!unit.every((word) => /^[a-z]+$/.test(word) && !isNumberWord(word))) return;
    const value = valueInWords(words.slice(0, count).join(' '));
    if (value !== undefined) return `${value}\\text{ ${unit.join(' ')}}`;
  }
  return;
}

const numberWord = `(?:${[...small, ...tens.slice(2), ...Object.keys(counts), ...denominators.keys()].join('|')})s?`;
const runs = new RegExp(
  `\\b(?:minus |negative |an? (?=dozen|hundred|thousand|million))?${numberWord}(?:(?:[\\s-]| and | point )${numberWord})*\\b`,
  'gi',
);

/** The only number in words that a sentence has: `twelve` of "She has twelve apples". `One` and `half` alone may be other words. */
export function onlyNumberIn(sentence: string): string | undefined {
  const [run = 'one', ...others] = sentence.match(runs) ?? [];
  const isNumber = others.length === 0 && !/^(?:one|half)$/i.test(run);
  return isNumber && valueInWords(run.toLowerCase()) !== undefined ? run : undefined;
}

/** Letters before digits in brackets in which their number in words is looked for. */
const longestNumber = 100;
const lastRun = new RegExp(`${runs.source}$`, 'i');

/** A text with digits for `eighteen (18)`. */
export function withoutTwins(text: string): string {
  let [kept, from] = ['', 0];
  for (const { 0: twin, 1: digits, index } of text.matchAll(/\s?\((\d[\d,]*)\)/g)) {
    const words = lastRun.exec(text.slice(Math.max(from, index - longestNumber), index))?.[0];
    if (words === undefined || valueInWords(words.toLowerCase()) !== digits!.replaceAll(',', '')) continue;
    kept += text.slice(from, index - words.length) + digits;
    from = index + twin.length;
  }
  return kept + text.slice(from);
}

const wordOfNumber = new RegExp(`^(?:${numberWord}|point|and|or)$`);

/** Whether a word says a number or a part of one. */
export const isNumberWord = (word: string) => wordOfNumber.test(word);
