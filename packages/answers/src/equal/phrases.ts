import { valueInWords, withUnitInWords } from './number-words.ts';
import { isUnit } from './units.ts';

/** A word, or one in the style of text. */
const word = String.raw`(?:\\(?:text|mathrm|operatorname)\s*\{\s*([a-zA-Z]+)\s*\}|([a-zA-Z]{2,}))`;

const scales: Readonly<Record<string, string>> = { K: 'thousand', M: 'million', B: 'billion', bn: 'billion' };

/** Phrases of mathematics as what they mean, one a line. `(?i)`: in any case. */
const phrases = String.raw`
  (?<=\d)\s*\((?!false)([a-z]{3,})\)\s*$ → \text{ $1}
  (\\mathbb\{R\})\s*\\(?:setminus)?\s+\{([^{}]*)\} → $1\setminus\{$2\}
  ^\s*\{\s*([a-z]\s*[:|].*)\}\s*$ → \{$1\}
  (?i)\bnon-(?=negative|positive|zero) → non
  // A color, unless nobody sees it.
  (?i)\\(?:text)?color\s*\{(?!\s*(?:white|#?f{3,6}))[^{}]*\} →
  // {}^7C_3, _7C_3 and their permutations, but not x^2 C_1
  (?<![\w)\]}])(?:\{\})?[_^]\{?(\d+)\}?\s*(?:\\(?:mathrm|text)\s*\{C\}|C)\s*_\{?(\d+)\}? → \binom{$1}{$2}
  (?<![\w)\]}])(?:\{\})?[_^]\{?(\d+)\}?\s*(?:\\(?:mathrm|text)\s*\{P\}|P)\s*_\{?(\d+)\}? → \frac{$1!}{($1-$2)!}
  (?<![\w}\\])C\s?\((\d+),\s?(\d+)\) → \binom{$1}{$2}
  (?<![\w}\\])P\s?\((\d+),\s?(\d+)\) → \frac{$1!}{($1-$2)!}
  \\(?:overline|bar)\s*\{(?=[^{}]*(?<![a-zA-Z])i(?![a-zA-Z])) → \conj{
  // 3rd, 3^{rd}, 3^{\text{rd}}
  (?i)(?<=\d)\s*(?:\^\s*)?(?:\{\s*)?(?:\\(?:text|mathrm)\s*\{\s*)?(?:st|nd|rd|th)(?![a-z])(?:\s*\}){0,2} →
  // USD 300, Rs. 500, US$20
  (?i)^\s*(USD|EUR|GBP|CHF|JPY|INR|Rs)\.?\s*([\d.,]+)\s*$ → $2 \text{ $1}
  (?i)\bUS(?=\s*\\?\$|\s+dollars\b) →
  // A number may be rounded, a fraction, a root and \pi are not.
  ^\s*\\approx(?![a-z])(?!\s*-?(?:\\[dtc]?frac\s*(?:\d\d|\{\d+\}\s*\{\d+\})|\\sqrt\s*(?:\d|\{\d+\})|\d*\s*\\pi|\d+\s*\/\s*\d+)\s*$) →
  ^(?:\\text\s*\{)?\s*DNE\s*\}?\s*$ → \text{does not exist}
  (?i)^(?:\\text\s*\{)?\s*(?:it\s+)?(?:cannot\s+be\s+determined|(?:not\s+enough|insufficient)\s+information)\s*\}?\s*$ → \text{not determined}
  // (mod 12), (\text{mod } 12)
  \(\s*(?:\\(?:text|mathrm|operatorname)\s*\{\s*mod\s*\}|\\?b?mod(?![a-z]))\s*(\d+)\s*\) → \pmod{$1}
  ^\s*\*\*([^*]+)\*\*\s*$ → $1
  (?i)^\s*(?:\\text\s*\{)?\s*true\s*\}?\s*$ → \text{yes}
  (?i)^\s*(?:\\text\s*\{)?\s*false\s*\}?\s*$ → \text{no}
  // B, not A
  (?i)^(\s*[^\s,;]{1,20}),\s(?:and\s)?not\s[^\s,;]{1,20}$ → $1
  // 12.35 (to 2 d.p.)
  (?i)\s*\(?(?:(?:rounded|correct)\s+)?to\s+\w+\s+(?:d\.?\s?p\.?|decimal\s+places?|s\.?\s?f\.?|significant\s+(?:figures?|digits?))\)?\s*$ →
  (?<=[\w)\]}])\s?\*\*\s?(?=[\w({\\-]) → ^
  // 0.1666... and 0.1(6)
  (?<![\d.])(\d{0,20}\.\d{0,20}?)(\d{1,12}?)\2{1,40}\s*\.{2,3} → $1\overline{$2}
  ^\s*(-?\d*\.\d*?)(?:\((\d+)\)|(\d)\s+(?:repeating|recurring))\s*$ → $1\overline{$2$3}
  (?i)^\s*(\\text\s*\{)?\s*(?:the|an?)\s+(?=[a-z]{4}) → $1
  (\d*\.\d*)\\dot\s*\{?(\d)\}?(?:(\d*)\\dot\s*\{?(\d)\}?)? → $1\overline{$2$3$4}
  ^\s*(\d+)\s+(?:out\s+of|in)\s+(\d+)\s*$ → \frac{$1}{$2}
  (?i)^\s*(?:\\text\s*\{\s*)?(?:about|approximately|approx\.?|roughly|around)\s*\}?\s*(?=[-\d\\$])(?!\s*-?(?:\\[dtc]?frac\s*(?:\d\d|\{\d+\}\s*\{\d+\})|\\sqrt\s*(?:\d|\{\d+\})|\d*\s*\\pi|\d+\s*\/\s*\d+)\s*$) →
  (?i)^\s*(?:\\text\s*\{\s*)?exactly\s*\}?\s*(?=[-\d\\$]) →
  (\\(?:vec|mathbf|boldsymbol|hat)\s*(?:\{[^{}]*\}|[a-z])\s*)\\times(?![a-zA-Z]) → $1\cross\,
  (?<=[a-z\s])!= → \ne\,
  ^\s*(?:from\s+)?(\d+)\s*(?:\\text\s*\{\s*)?\bto\b\s*\}?\s*(\d+)\s*$ → $1:$2
  ^\s*(\d+)\s*(?:R|r|rem\.?|remainder)\s*(\d+)\s*$ → \text{$1 remainder $2}
  (?<=\d)\s*[xX]\s*(?=10\s?\^) → \times\,
  ^\s*-\s*\\?\$\s*(?=\d) → \$-
  (?i)^\s*(?:the\s+)?(?:final\s+)?answer\s*:\s* →
  \b(?:equals|is equal to)\b → =
  \bof\s+an?(?=\s[a-z]{2}) → of
  (\d[^a-zA-Z\d]{0,8}(?:\\(?:text|mathrm)\s*\{\s*)?)\\mu\s*((?:\\(?:text|mathrm)\s*\{\s*)?)(?=[mgsAFCLHVWJTN](?![a-zA-Z])) → $1$2u
  \\mathbb\s*\{?R\}?\s*(?:\^\s*\{?\s*\+\s*\}?|_\{?\s*(?:>\s*0|\+)\s*\}?) → (0,\infty)
  (?<!\s)\s*(?:\\text\s*\{\s*)?\((?:a\s+)?(?:double|repeated)\s+root\)[\s}]*$ →
  // odd n, all odd n, n odd
  ^(?:\\text\s*\{\s*)?(?:all\s+)?(odd|even|prime)\s*\}?\s*\$?([a-z])\$?$ → $2 \text{ is $1}
  ^([a-z])\s*(?:\\text\s*\{\s*)?\s(odd|even|prime)\s*\}?$ → $1 \text{ is $2}
  (?<=[a-z])\s+(?:wins|won|has\s+a\s+winning\s+strategy)(?:\s+the\s+[a-z]+)?(?=\s*\}?\s*$) →
  ^\s*(\\text\s*\{)?\s*(?:on|in|at)\s+(?=[A-Z][a-z]) → $1
  (\d[^a-zA-Z\d]{0,8}(?:\\(?:text|mathrm)\s*\{\s*)?)([kM]?)\\Omega → $1\text{ $2ohm}
  // for any integer n, where c is a constant, for k \in \mathbb{Z}, for all n
  (?<![\s,])[\s,]*(?:\\text\s*\{[\s,]*)?\bfor\s+(?:any|all|some|every|each)\s+(real|integer)s?(?:\s+(?:numbers?|constants?|values?))?[\s{}$]+([a-zA-Z])[\s{}$]*$ → , $2 \in \$1
  (?<![\s,])[\s,]*(?:\\text\s*\{[\s,]*)?\bwhere[\s{}$]+([a-zA-Z])[\s{}$]+(?:\\text\s*\{\s*)?is\s+an?y?\s+(?:arbitrary\s+|real\s+)?(integer|real|number|constant)[a-z\s]*[{}$\s]*$ → , $1 \in \$2
  (?<![\s,])[\s,]*(?:\\text\s*\{[\s,]*)?\b(?:for|where)(?:\s+(?:any|all|some|every|each))?[\s{}$]+(?=[a-z][\s{}$]*(?:\\in(?![a-z])|∈)) → ,\;
  (?<![\s,])[\s,]*(?:\\text\s*\{[\s,]*)?\bfor\s+(?:any|all|every|each)[\s{}$]+[a-z][\s{}$]*$ →
  // J/(mol·K)
  (?<=[a-zA-Z])\/\(([a-zA-Z]{1,4}(?:\^\d)?)(?:\s?\*\s?|\s)([a-zA-Z]{1,4})\) → /$1/$2
  // 37° 30'
  (\d+)\s*(?:\^\s*\{?\s*\\circ\s*\}?|°)\s*(\d+)\s*(?:'|\^\s*\{?\s*\\prime\s*\}?)(?!') → ($1+\frac{$2}{60})^\circ
  (?i)(\d+)\s*degrees?,?\s*(?:and\s+)?(\d+)\s*minutes?(?![\s,]*(?:and\s*)?\d) → ($1+\frac{$2}{60})^\circ
  // 28, 42 et 56
  (?<=\d)\s+(?:et|und|og|och|и)\s+(?=[-\d\\$]) → \text{ and }
  \\left\s*\\\{\s*\\begin\s*\{array\}\s*\{[^{}]*\}([\s\S]*?)\\end\s*\{array\}\s*\\right\s*\.? → \begin{cases}$1\end{cases}
  // \left(\begin{array}{cc} … \end{array}\right)
  (?:\\left\s*)?[([]\s*\\begin\{array\}\s*\{[^{}]*\}([^[\]]*?)\\end\{array\}\s*(?:\\right\s*)?[)\]] → \begin{pmatrix}$1\end{pmatrix}
  (?i)^(?:the\s+)?(?:(?:ordered\s+)?(?:pair|triple)|(?:solution\s+)?set|interval|point|vector|matrix)\s+(?=[\\([{<]) →
  (?i)^(?:\\text\s*\{\s*)?(?:all\s+)?real\s+(?:numbers?|values?)\s+(?:except|other\s+than)(?:\s+for)?\s*\}?\s*(?:[a-z]\s*=\s*)?(-?[^a-z,}]+)\}?$ → \mathbb{R}\setminus\{$1\}`;

/** The units of a product of nothing else, with their exponents. */
function unitsIn(product: string): readonly string[] | undefined {
  const words = product
    .replace(/\\(?:text|math[a-z]+)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\s*\^\s*\{?\s*(\d)\s*\}?/g, '^$1 ')
    .split(/(?:\s|[*·⋅~]|\\(?:cdot|[,;: ]))+/)
    .filter((word) => word !== '');
  const areUnits = words.every(
    (word) => /^[a-zA-Z°]+(?:\^\d)?$/.test(word) && isUnit(word.replace(/\^.*/, '')),
  );
  return areUnits && words.length > 0 ? words : undefined;
}

/** What a phrase means, if the text decides it. */
const readings: readonly (readonly [RegExp, (...match: string[]) => string])[] = [
  // 1_000
  [/(?<![\w\\}.])\d{1,3}(?:\\?_\d{3})+(?![\d_])/g, (number) => number!.replaceAll(/\D/g, '')],
  // \det\begin{pmatrix}…\end{pmatrix}, \left|\begin{matrix}…\end{matrix}\right|
  [
    /(?:\\det\s*(?:\\left\s*)?\(?|(?:\\left\s*)?(?:\||\\l?vert(?![a-z])))\s*\\begin\s*\{([pb]?matrix|array)\}(?:\{[lcr|\s]*\})?((?:(?!\\(?:begin|end)\b)[\s\S])*)\\end\s*\{\1\}\s*(?:(?:\\right\s*)?(?:\||\\r?vert(?![a-z])|\)))?/g,
    (_, _kind, rows) => `\\begin{vmatrix}${rows}\\end{vmatrix}`,
  ],
  // 1.234.567, and 1.234,56
  [
    /(?<![\d.,])[1-9]\d{0,2}(?:(?:\.\d{3}){2,}(?:,\d+)?|\.\d{3},\d+)(?![\d.,])/g,
    (number) => number!.replaceAll('.', '').replace(',', '.'),
  ],
  [
    /^\s*([a-zA-Z]\s*(?:\\equiv|[≡=])\s*)?(\d+)\s*\\?b?mod\s*\{?(\d+)\}?\s*$/,
    (given, name, rest, modulus) =>
      name !== undefined || Number(rest) < Number(modulus)
        ? `${name ?? ''}${rest} \\pmod{${modulus}}`
        : given!,
  ],
  // Lines of equations are a list, and those that begin with an equals sign go on.
  [
    /\\begin\s*\{(aligned|align\*?|gathered|split|cases(?=\}(?:[^&]|&\s*=)*$)(?=[\s\S]*=)(?![\s\S]*\\(?:text|mbox)))\}([\s\S]*)\\end\s*\{\1\}/,
    (_, _environment, lines) =>
      lines!
        .replaceAll('&', '')
        .replaceAll(/\\\\\s*(?==)/g, ' ')
        .replace(/\\\\\s*$/, '')
        .replaceAll(/,?\s*\\\\/g, ', '),
  ],
  // 1, 3, ..., 9 in full, and 1, 2, 3, ..., n with the fewest numbers that say its step
  [
    /-?\d+(?:,\s*-?\d+)+,\s*\.{2,3}(?:,\s*-?\d+(?![\w.^]))?/g,
    (written) => {
      const numbers = written!.match(/-?\d+/g)!.map(Number);
      const [first, step] = [numbers[0]!, numbers[1]! - numbers[0]!];
      const last = /\d$/.test(written!) ? numbers.pop()! : numbers.at(-1)!;
      const count = (last - first) / step + 1;
      if (!Number.isInteger(count) || count < numbers.length || count > 100) return written!;
      const terms = Array.from({ length: count }, (_, index) => first + index * step);
      if (numbers.some((number, index) => number !== terms[index])) return written!;
      return written!.endsWith('.') ? `${first}, ${first + step}, ...` : terms.join(', ');
    },
  ],
  // The vertex of an angle stands in the middle.
  [
    /(?:\\angle|∠)\s*([A-Z])\s*([A-Z])\s*([A-Z])(?![a-zA-Z])/g,
    (_, first, vertex, last) => `${vertex}_{${[first, last].sort().join('')}}`,
  ],
  [/^\s*(\\?[$€£]\s?[\d.,]+)\s?(K|M|B|bn)\s*$/, (_, price, scale) => `${price} ${scales[scale!]}`],
  // \frac{\text{J}}{\text{mol K}}
  [
    /(?<=\d\s*)\\[dt]?frac\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}/g,
    (given, ...parts) => {
      const [above, below] = parts.slice(0, 2).map(unitsIn);
      const isWritten = parts.slice(0, 2).every((part) => /\\(?:text|math)/.test(part));
      if (above === undefined || below === undefined || !isWritten) return given!;
      return `\\text{ ${[above.join(' '), ...below].join('/')}}`;
    },
  ],
  // \frac{\mathrm{m}}{\mathrm{s}^2}
  [
    new RegExp(
      String.raw`\\[dt]?frac\s*\{\s*(?!d[a-zA-Z]\s*\}\s*\{\s*d[a-zA-Z]\s*\})${word}\s*\}\s*\{\s*${word}\s*(\^\{?\d\}?)?\s*\}`,
      'g',
    ),
    (_, a, b, c, d, power = '') => `\\text{ ${a ?? b}/${c ?? d}}${power}`,
  ],
];

const meanings = [
  ...[...phrases.matchAll(/^ *(?!\/\/)(\(\?i\))?(.*) →(?: (.*))?$/gm)].map(
    ([, anyCase, phrase, meaning = '']) =>
      [new RegExp(phrase!, anyCase === undefined ? 'g' : 'gi'), meaning] as const,
  ),
  ...readings,
];

/** A text with its words for dates, numbers and mathematics as LaTeX. */
export function withoutPhrases(text: string): string {
  if (/^-?\d+$/.test(text)) return text;
  const [, styled, quoted] =
    /^(?:(?:\\(?:boxed|mbox|mathrm|text(?:bf|it|rm)?)\s*\{)+([^{}]*)\}+|["“]([^"“”]+)["”])$/.exec(
      text.trim(),
    ) ?? [];
  const words = (styled ?? quoted ?? text).trim().toLowerCase();
  const meaning = valueInWords(words) ?? withUnitInWords(words);
  if (meaning !== undefined) return meaning;
  return meanings.reduce(
    (rest, [phrase, replacement]) => rest.replace(phrase, replacement as string),
    quoted ?? text,
  );
}
