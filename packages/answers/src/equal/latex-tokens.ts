import { decimalDigit } from '../text.ts';
import { withoutPhrases } from './phrases.ts';

/** A piece of an answer. Words are what `\text{…}` holds, and plain runs of letters that are not a product. */
export interface Token {
  readonly kind: 'number' | 'letter' | 'command' | 'word' | 'sign';
  /** Without the backslash of a command. A number has no separators. */
  readonly text: string;
  /** Whether white space stands before it. */
  readonly spaced: boolean;
}

/** How a text is taken apart. */
export interface TokenOptions {
  /** Whether `1,234` is a number or a list. */
  readonly commas: 'thousands' | 'list';
  /** Whether letters are a unit because of the other answer, such as `m`. */
  readonly isUnit?: (letters: string) => boolean;
}

const maximumSource = 10_000;

const greek =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega'.split(
    ' ',
  );

const characters = table(
  '\u2062 * \u2063 , \u2064 + − - – - — - ‐ - ⁄ / ÷ / × * · * ⋅ * ∙ * ∗ * º ° ∞ \\infty ∅ \\emptyset ∪ \\cup ∩ \\cap ∈ \\in ≤ \\le ≥ \\ge ⩽ \\le ⩾ \\ge ≠ \\ne ± \\pm ∓ \\mp ' +
    "ℝ \\mathbb{R} ≈ \\approx ≡ \\equiv ∖ \\setminus ⌊ \\lfloor ⌋ \\rfloor ⌈ \\lceil ⌉ \\rceil ⟨ \\langle ⟩ \\rangle ′ ' ’ ' ∨ \\lor ∛ \\sqrt[3] ∜ \\sqrt[4] Ω \\Omega ٫ . ٬ ,",
);

const synonyms = table(
  'dfrac frac tfrac frac cfrac frac dbinom binom tbinom binom leq le leqslant le geq ge geqslant ge neq ne lt < gt > lbrace \\{ rbrace \\} ' +
    '{ \\{ } \\} lbrack [ rbrack ] lvert | rvert | vert | mid : cdot * times * ast * div / colon : land and wedge and lor or vee or ' +
    'infin infty inf infty infinity infty oo infty varnothing emptyset degree circ % % $ dollar lg log union cup varepsilon epsilon integer Z real R number R constant R asin arcsin acos arccos atan arctan imath i jmath j rightarrow to longrightarrow to pounds £ euro € # # & & _ _',
);

const ignored = /^(?:left|right|middle|angle|[bB]igg?[lrm]?|(?:display|text|script)style|limits|rm|bf)$/;
const wordStyles = /^(?:text(?:bf|it|rm|sf|tt|normal)?|mathrm|mbox|hbox|operatorname|emph)$/;
const plainStyles = /^(?:mathbf|mathit|mathsf|boldsymbol|bm|vec|hat|boxed|fbox)$/;

const setOf = (words: string) => new Set(words.split(' '));

/** Names that mathematics reads without a backslash too. */
const plainNames = setOf(
  'gcd lcm cis asin acos atan sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log exp sqrt abs inf infinity oo pi theta alpha beta gamma lambda phi omega',
);

/** Short runs of letters that are words, not products. */
const shortWords = setOf(
  'or and not no yes all per the is are was of old cm mm km kg mg mi ft in lb lbs oz hr hrs min mins sec ml mph kph day days men way ways cup cups usd deg rad sq oui non ja set',
);

/** Units that stay one word behind a number. */
const scaledUnit = /^(?:[nmkMG]?(?:Hz|Pa|eV|Wh)|[nmkMG][AVWJNCFTHL]|[kMG]B|dB)$/;

const space = String.raw`(?:\s|~|\\[,;:! ]|\\q?quad(?![a-zA-Z]))+`;
const number = String.raw`(?:(?<![a-zA-Z\\])[\dA-F]{1,40}(?=_\{?1[1-6](?!\d))|\d*\.\d*\\(?:overline|bar)\s*\{\d+\}|(?<![_^])\d{1,3}(?:(?:SEPARATOR)\d{3})+(?!\d)(?:\.\d+)?|\d*\.?\d+\.?(?:[eE][+-]?\d+(?![\d.a-zA-Z]))?)`;
const spacing = String.raw`'|\{,\}|\\[,;: ]|,?\\! ?,?|[ ~]`;
const patterns = {
  list: pieces(spacing),
  thousands: pieces(`,|${spacing}`),
};

function pieces(separator: string): RegExp {
  const numbers = number.replace('SEPARATOR', separator);
  return new RegExp(
    String.raw`(?<space>${space})|(?<number>${numbers})|\\(?<command>[a-zA-Z]+|[^a-zA-Z])|(?<letters>[a-zA-Z]+)|(?<sign>[\s\S])`,
    'gyu',
  );
}

function table(entries: string): ReadonlyMap<string, string> {
  const words = entries.split(' ');
  return new Map(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]!]] : [])));
}

/** Unicode signs as LaTeX, digits of every script as ASCII, characters that print nothing removed. */
function plainCharacters(text: string): string {
  return text
    .replace(/(?![\u2062-\u2064])\p{Cf}/gu, '')
    .replace(/^([^$]*)(?<!\\)\$([^$]*)$/, '$1\\$ $2')
    .replace(
      /([⁰¹²³⁴-⁹]+)[⁄/]([₀-₉]+)/g,
      (_, above, below) => `\\frac{${`${above}}{${below}`.normalize('NFKC')}}`,
    )
    .replace(/[⁰¹²³⁴-⁹⁺⁻ⁿⁱᵏᵐˣᵗ]+/g, (run) => `^{${run.normalize('NFKC')}}`)
    .replace(/[₀-₉₊₋ₐ-ₜᵢ-ᵥⱼ]+/g, (run) => `_{${run.normalize('NFKC')}}`)
    .replace(/[¼-¾⅐-⅞↉]/g, (sign) => `\\frac{${sign.normalize('NFKC').replace('⁄', '}{')}}`)
    .replace(
      /([√∛∜])\s*(\d+(?:\.\d+)?|[a-zπ](?![a-z]))/gi,
      (_, sign, radicand) => `${characters.get(sign) ?? '\\sqrt'}{${radicand}}`,
    )
    .replaceAll('√', '\\sqrt ')
    .replace(/\\[lc]?dots(?![a-z])/g, '...')
    .replace(/\^\s*(?:\{\s*((?:\\prime\s*)+)\}|\\prime(?![a-z]))/g, (whole) =>
      "'".repeat(whole.split('prime').length - 1),
    )
    .replace(/[º℃ℝ]/g, (sign) => characters.get(sign) ?? '°C')
    .normalize('NFKC')
    .replace(/[^\u0020-\u007e]/g, (sign) => {
      if (/[α-ω]/.test(sign)) return `\\${greek[sign.charCodeAt(0) - 0x3b1]} `;
      const found = characters.get(sign);
      return found === undefined ? sign : /\\[a-z]+$/.test(found) ? `${found} ` : found;
    })
    .replace(/\p{Nd}/gu, (digit) => (digit <= '9' ? digit : decimalDigit(digit)));
}

/**
 * Takes a LaTeX or plain answer apart. Dollar signs around formulas, sizes, type and what only spaces are left out, and commands of one
 * meaning get one name. Linear in the text. Empty for a text that becomes longer than 10,000 characters by that.
 */
export function latexTokens(text: string, { commas, isUnit }: TokenOptions): Token[] {
  const source = withoutPhrases(plainCharacters(text.replace(/[.,;]\s*$/, '')))
    .replaceAll(/\\mathbb\s*\{?\s*([A-Z])\s*\}?/g, '\\$1 ')
    .replaceAll(/\\over(?:line|rightarrow)\s*\{([A-Z]+)\}/g, '$1')
    .replaceAll(
      /\\(?:begin|end)\{(?:[bpvBV]?(?:small)?matrix|cases)\}/g,
      (whole) => ` ${whole.replaceAll(/[{}]/g, '')} `,
    );
  const tokens: Token[] = [];
  if (source.length > maximumSource) return tokens;
  /** For each open brace, whether a style opened it. */
  const braces: ('group' | 'plain' | 'words')[] = [];
  let style: 'plain' | 'words' | undefined;
  let spaced = false;
  const emit = (kind: Token['kind'], value: string) => {
    tokens.push({ kind, text: value, spaced });
    spaced = false;
  };
  for (const { groups } of source.matchAll(patterns[commas])) {
    const { space: blank, number: digits, command, letters, sign } = groups!;
    if (blank !== undefined) spaced ||= !/^\\!$/.test(blank);
    else if (digits !== undefined) emit('number', plainNumber(digits));
    else if (letters !== undefined) {
      const isScaled = tokens.at(-1)?.kind === 'number' && scaledUnit.test(letters);
      emitLetters(letters, { inWords: isScaled || braces.includes('words'), isUnit, emit });
    } else if (sign === '{') {
      braces.push(style ?? 'group');
      if (style === undefined) emit('sign', '{');
    } else if (sign === '}') {
      if ((braces.pop() ?? 'group') === 'group') emit('sign', '}');
    } else if (sign !== undefined) {
      const isAbbreviation = sign === '.' && !spaced && tokens.at(-1)?.kind === 'word';
      if (sign !== '$' && !isAbbreviation) emit('sign', sign);
    } else if (wordStyles.test(command!) || plainStyles.test(command!)) {
      style = wordStyles.test(command!) ? 'words' : 'plain';
      continue;
    } else if (!ignored.test(command!) || (command === 'angle' && tokens.at(-1)?.kind === 'number'))
      emitCommand(command!, emit);
    if (blank === undefined) style = undefined;
  }
  return tokens;
}

type Emit = (kind: Token['kind'], text: string) => void;

function plainNumber(digits: string): string {
  const [whole, repeated] = digits.split(/\\(?:overline|bar)\s*\{/);
  const bare = whole!
    .replaceAll(/\{,\}|\\[,;: !]|[,' ~]/g, '')
    .replace(/\.$/, repeated === undefined ? '' : '.');
  return repeated === undefined ? bare : `${bare}(${repeated.slice(0, -1)})`;
}

function emitCommand(command: string, emit: Emit): void {
  const name = synonyms.get(command) ?? command;
  if (name === 'and' || name === 'or') emit('word', name);
  else if (/^[a-zA-Z]/.test(name)) emit('command', name);
  else emit('sign', name);
}

function emitLetters(
  letters: string,
  { inWords, isUnit, emit }: { inWords: boolean; isUnit: TokenOptions['isUnit']; emit: Emit },
): void {
  const lower = letters.toLowerCase();
  if (plainNames.has(lower)) emitCommand(lower, emit);
  else if (inWords && /^[ei]$/.test(letters)) emit('letter', letters);
  else if (inWords || letters.length > 3 || shortWords.has(lower) || isUnit?.(letters) === true) {
    emit('word', letters);
  } else for (const letter of letters) emit('letter', letter);
}
