const small =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const scales: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9 };

/** A whole number in English words: `twelve`, `one hundred and five`, `forty-two`. `undefined` for other words. */
export function numberInWords(text: string): number | undefined {
  let [total, group] = [0, 0];
  let hasDigits = false;
  for (const word of text.split(/[\s-]+/)) {
    if (word === 'and' && hasDigits) continue;
    const [unit, ten] = [small.indexOf(word), tens.indexOf(word)];
    if (unit >= 0) group += unit;
    else if (ten > 1) group += 10 * ten;
    else if (word === 'hundred' && group > 0) group *= 100;
    else if (Object.hasOwn(scales, word) && group > 0) [total, group] = [total + group * scales[word]!, 0];
    else return;
    hasDigits = true;
  }
  return hasDigits ? total + group : undefined;
}
