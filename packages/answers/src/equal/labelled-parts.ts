import type { MathEquivalence } from './symbolic-equivalence.ts';

/** What labels a part: `(a)`, `ii)`, `(3)`, `Bob:`, and `maximum value` before a number. */
const labels =
  /(?<![^\s,;.\\])(?:(?:[Pp]art\s)?\(?(?:(?:([a-h])|(i{1,3}|iv|v))(?:\)|\.(?=\s))|(\d)\))[\s:]*|([A-Za-z][a-z']+)\s*:\s*|([Mm](?:ax|in))(?:imum)?(?:\svalue)?[\s:=]*(?:is\s|of\s)?(?=-?[\d\\$]))/g;
const romans = ['', 'i', 'ii', 'iii', 'iv', 'v'];

/** What begins or ends with an operator is a factor or a term: `(2)^3`, `(a)x + (b)y`. */
const inFormula = /^[\^_+*/=]|^\\(?:cdot|times)|[-+*/^=]$|\\(?:cdot|times|pm)$/;

/** The parts of `(a) 3, (b) 5` or `Bob: 8, Alice: 12` by label; `undefined` for one part, or if something has no label. */
function partsOf(answer: string): ReadonlyMap<string, string> | undefined {
  if (!/[):]|[a-v]\.|m(?:ax|in)/i.test(answer)) return;
  const text = answer
    .replaceAll(/\\(?:text(?:bf)?|mathrm)\s*\{([^{}]*)\}|\\(?=(?:max|min)\b)/g, '$1')
    .replaceAll(/(?:\\[,;: ]|\\q?quad(?![a-z])|\s)+/g, ' ')
    .trim();
  const found = [...text.matchAll(labels)];
  const parts = found.map(({ 0: { length }, 1: letter, 2: roman, 3: digit, 4: name, 5: most, index }, at) => {
    const place = letter === undefined ? romans.indexOf(roman!) : letter.charCodeAt(0) - 96;
    const value = text.slice(index + length, found[at + 1]?.index).replace(/[\s,;.\\]+(?:and\s*)?$/, '');
    const label = digit ?? most ?? name?.replace(/imum$/, '') ?? String(place);
    return [label.toLowerCase(), value] as const;
  });
  const byLabel = new Map(parts);
  const areLabelled =
    found[0]?.index === 0 &&
    byLabel.size === parts.length &&
    !parts.some(([, value]) => value === '' || inFormula.test(value));
  return areLabelled && parts.length > 1 ? byLabel : undefined;
}

/** Whether answers in labelled parts have the same ones. Without labels on one side the order counts. `undefined` if neither has labels. */
export function agreeInParts(given: string, expected: string, again: MathEquivalence): boolean | undefined {
  const [own, right] = [partsOf(given), partsOf(expected)];
  if (own === undefined && right === undefined) return;
  if (own?.size === right?.size)
    return [...right!].every(([label, value]) => again(own!.get(label) ?? '', value));
  const inOrder = (text: string, parts: ReadonlyMap<string, string> | undefined) =>
    `(${[...(parts?.values() ?? [text.replaceAll(/\band\b/g, ',')])].join(', ')})`;
  return again(inOrder(given, own), inOrder(expected, right));
}
