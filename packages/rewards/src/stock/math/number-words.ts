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
export function numberInWords(text: string): number | undefined {
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
