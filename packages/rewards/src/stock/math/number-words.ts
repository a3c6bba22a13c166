const small =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const scales: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9 };

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

const parts = 'half third quarter fifth sixth seventh eighth ninth tenth'.split(' ');

/** A number in English words as LaTeX: a whole number, a fraction such as `three quarters`, or a dozen. */
export function valueInWords(text: string): string | undefined {
  const counted = /^(?:(.+?)[\s-](?:an? )?)?(hal(?:f|ves)|[a-z]+?h|thirds?|quarter|dozen)s?$/.exec(text);
  const name = counted?.[2]?.replace('halves', 'half').replace('fourth', 'quarter').replace(/ds$/, 'd') ?? '';
  const count = /^an?$/.test(counted?.[1] ?? 'a') ? 1 : numberInWords(counted![1]!);
  const part = parts.indexOf(name);
  if (count !== undefined && name === 'dozen') return String(12 * count);
  if (count !== undefined && part >= 0 && (part === 0 || counted?.[1] !== undefined))
    return `\\frac{${count}}{${part + 2}}`;
  const whole = numberInWords(text);
  return whole === undefined ? undefined : String(whole);
}
