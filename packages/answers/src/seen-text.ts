import { shownText, withoutSources } from './shown-text.ts';

/** White text and room in LaTeX, and groups without content. */
const latex =
  /\\(?:text)?color\s?\{(?:white|transparent)\}\s?(?:\{[^{}]*\}|[^{}$\n]*)|\\scalebox\{0\}\{[^{}]*\}|\\(?:q?quad|[,;:! ]|[hv]?space\*?\{[^{}]*\}|[hm]?(?:skip|kern)[\d.]+ ?\w\w)|(?:\\[a-z]{1,12}\*?)?\{\s*\}/gi;

/** Tags of HTML. Those of blocks part words, others do not. Titles in `<<…>>` are none. */
const tag =
  /(?<!<)<(?:[!?][^<>]*|\/?([a-z][\w-]*)(?:[\s/](?:(?:[^<>"']|"[^"<]*"|'[^'<]*')*|[^<>]*))?)>(?!>)/gi;
const block = /^(?:br|p|div|[uo]l|li|t[rdh]|table|h[1-6r])$/i;

/** An element with letters in another case. */
const cased = /<([a-z]\w*)\s[^<>]*text-transform\s?:\s?(?:(upper)|lower)case[^<>]*>[\s\S]*?(?:<\/\1>|$)/gi;

/** Codes of a terminal, and what they conceal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the code begins with one
const terminal = /\u001b\[(?:\d+;)*8m[^\u001b]*|\u001b\[[\d;]*m/g;

/** Text that is shown from right to left. */
const turned = /<bdo\s(?=[^<>]*\brtl\b)[^<>]*>([^<>]*)<\/bdo>/gi;

/** Special tokens of models. */
const token =
  /<\|channel\|>[^<]{0,40}<\|message\|>|<\|[^|<>\n]{1,40}\|>|<\/?s>|<(?:pad|bos|eos|unk)>|\[PAD\]/g;

/** Targets of links, definitions of links and footnotes, and their marks. An image is its text. */
const target = /!?(\[[^[\]\n]*\])\([^()\n]*\)|\[\^[^[\]\n]*\](?!:)/g;
const definition = /^ {0,3}\[[^[\]\n]+\]:.*/gm;

/** Blanks by name or number, and characters that look like one. */
const blank = /&(?:\w{0,14}sp(?:ace|1[34])?|Tab|NewLine|#(x?)(\w{1,7}));|[\u2800\u3164\u115f\u1160\uffa0]/gi;
const joiner = /&(?:ZeroWidthSpace|NoBreak|zwn?j|shy|lrm|rlm|Invisible\w+);/g;

/**
 * A text without what its page does not show: comments, hidden and white text, tags with their attributes, targets of links, special tokens
 * and room. Blanks of every kind are spaces. Marks of Markdown and code stay. Linear.
 *
 * @param hidden - `'kept'`: with what elements hide, because not every page reads HTML.
 */
export function seenText(text: string, hidden: 'left out' | 'kept' = 'left out'): string {
  if (!/[<&\\[{~%\u1160\u115f\u2800\u3164\uffa0]/.test(text)) return text;
  return outsideCode(hidden === 'kept' ? withoutSources(text) : shownText(text), (part) =>
    withPlainBlanks(
      part
        .replace(terminal, '')
        .replace(cased, (element, _, upper) => (upper ? element.toUpperCase() : element.toLowerCase()))
        .replace(turned, (_, shown: string) => Array.from(shown).reverse().join(''))
        .replace(latex, '')
        .replace(token, '')
        .replace(tag, (_, name = 'p') => (block.test(name) ? ' ' : ''))
        .replace(definition, '')
        .replace(target, (one: string, shown = '') =>
          shown === '[]' || (one.startsWith('!') && /\(\s*\)$/.test(one)) ? '' : shown,
        ),
    ),
  );
}

/** A text with spaces for blanks of every kind, and without characters that join. */
export function withPlainBlanks(text: string): string {
  return text
    .replace(joiner, '')
    .replace(blank, (one, hexadecimal = '', digits = '') =>
      digits === '' ? ' ' : blankOf(one, Number((hexadecimal && '0x') + digits)),
    );
}

/** What readers may see of a text: {@link seenText} without and with what elements hide. Checks of what should not be there read both. */
export function seenTexts(text: string): readonly string[] {
  const seen = seenText(text);
  return text.includes('<') ? [...new Set([seen, seenText(text, 'kept')])] : [seen];
}

/** The character of a number if it has no ink. Others stay as they are written. */
function blankOf(reference: string, code: number): string {
  if (!(code <= 0x10ffff)) return reference;
  const character = String.fromCodePoint(code);
  return ink.test(character) ? reference : /\p{Z}/u.test(character) ? ' ' : '';
}

/** Changes a text outside its code, which is shown as it is. */
function outsideCode(text: string, change: (part: string) => string): string {
  const parts = text.split(/(`{3}[^`\n]*\n[\s\S]*?(?:`{3}|$)|`[^`\n]+`)/);
  return parts.map((part, k) => (k % 2 === 0 ? change(part) : part)).join('');
}

/** Anything but white space, control and ignorable characters, code points without a meaning, marks alone, and blanks with another name. */
export const ink = /[^\p{C}\p{M}\p{Z}\p{DI}\u2800]/u;
