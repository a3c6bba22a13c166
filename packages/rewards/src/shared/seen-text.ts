import { shownText, withoutComments } from '@rlp/answers/text';

/** White text and room in LaTeX, and groups without content. */
const latex =
  /\\(?:text)?color\s?\{(?:white|transparent)\}\s?(?:\{[^{}]*\}|[^{}$\n]*)|\\scalebox\{0\}\{[^{}]*\}|\\(?:q?quad|[,;:! ]|[hv]?space\*?\{[^{}]*\}|[hm]?(?:skip|kern)[\d.]+ ?\w\w)|(?:\\[a-z]{1,12}\*?)?\{\s*\}/gi;

/** Tags of HTML. Those of blocks part words, others do not. Titles in `<<…>>` are none. */
const tag = /(?<!<)<(?:[!?][^<>]*|\/?([a-z][\w-]*)(?:\s[^<>]*)?\/?)>(?!>)/gi;
const block = /^(?:br|p|div|[uo]l|li|t[rdh]|table|h[1-6r])$/i;

/** An element with a style. What its properties do, but for these, may hide it. */
const styled = /<([a-z]\w*)\s[^<>]*\bstyle\s?=\s?["']?([^"'<>]*)[^<>]*>[^<]*<\/\1>/gi;
const harmless =
  /^(?:\s*(?:(?:background-)?color:(?!\s*(?:white|transparent|#f))|font-(?:weight|style|family):|text-|margin|padding|border)[^;]*;?)*\s*$/i;

/** Codes of a terminal, and what they conceal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the code begins with one
const terminal = /\u001b\[(?:\d+;)*8m[^\u001b]*|\u001b\[[\d;]*m/g;

/** Text that is shown from right to left. */
const turned = /<bdo\s[^<>]*\brtl\b[^<>]*>([^<>]*)<\/bdo>/gi;

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
 */
export function seenText(text: string): string {
  if (!/[<&\\[{~%\u1160\u115f\u2800\u3164\uffa0]/.test(text)) return text;
  return outsideCode(shownText(text), (part) =>
    part
      .replace(terminal, '')
      .replace(styled, (element, _, style: string) => (harmless.test(style) ? element : ''))
      .replace(turned, (_, shown: string) => Array.from(shown).reverse().join(''))
      .replace(latex, '')
      .replace(token, '')
      .replace(tag, (_, name = 'p') => (block.test(name) ? ' ' : ''))
      .replace(definition, '')
      .replace(target, (_, shown = '') => (shown === '[]' ? '' : shown))
      .replace(joiner, '')
      .replace(blank, (one, hexadecimal = '', digits = '') =>
        digits === '' ? ' ' : blankOf(one, Number((hexadecimal && '0x') + digits)),
      ),
  );
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
const ink = /[^\p{C}\p{M}\p{Z}\p{DI}\u2800]/u;

/** Marks of Markdown around nothing: fences, empty items and headlines, rules, rows of tables. */
const structure =
  /`{3}\w*|^[^\S\n]*(?:[-*+>]|\d{1,3}[.)]|#{1,6})[^\S\n]+$|^(?=[^|\n]*\|)[ \t|:-]+$|[*_~]{2,}|[-=]{3,}|\$/gm;

/** A gap to be filled: dots, `[your answer]`, `{{answer}}`. */
const gap =
  /^\s*(?:[.…][\s.…]*|\{\{[^{}]*\}\}|[[{](?:your|insert|put|write)\b[^\]}]*[\]}][\])}.:!…\s]{0,20})$/i;
/** Words for a text that is still to be written: `thinking goes here`, lorem ipsum. As values of data they may be meant, such as the status "todo". */
const placeholder =
  /^\s*(?:lorem ipsum\b[\s\S]*|[[({]?(?:(?:(?:write|put|insert|add|your?|the|my|some|step|by|thinking|thoughts?|reasoning|answer|process|explanation|goes?|text) ){1,6}here|placeholder|to ?do|tbd|your (?:reasoning|thoughts?|thinking|answer|explanation))[\])}.:!…\s]{0,20})$/i;
/** What a thought consists of that does not think, gaps in brackets among it. */
const filler =
  /\b(?:h+m+|u+[hm]+|well|ok(?:ay)?|wait|so|blah|n\/a|let me (?:think|see)|let['’]s (?:think|see)|(?:I am |I['’]m |I )?think(?:ing)?(?: (?:even )?more)?|step by step|steps? ?\d*|no (?:thinking|thoughts?|reasoning)(?: is)?(?: needed| required| necessary)?|(\p{L})\1{4,})\b|\[[\p{L} ,'’]*\]/giu;

/**
 * Whether a reader sees anything of a text, be it an image. Comments, markup around nothing, dots, placeholders and repetitions of the name of
 * the text, or of those beside it, do not count, nor do words such as "hmm" alone in a thought.
 */
export function isVisible(text: string, name = '', names: readonly string[] = [name]): boolean {
  const shown = seenText(text).replace(structure, '').replace(gap, '').replace(placeholder, '');
  const isIdle = /^(?:think|thought|reason)/i.test(name) && !/[\p{L}\p{N}]/u.test(shown.replace(filler, ''));
  const seen = isIdle ? '' : shown;
  return (
    ink.test(
      name === '' ? seen : seen.replace(new RegExp(`^\\W*(?:(?:${names.join('|')})\\W*)+$`, 'i'), ''),
    ) || /<(?:img|svg|video)\s[^<>]*\bsrc\s?=\s?["']?[^"'\s>]/i.test(shownText(text))
  );
}

/** Whether a reader sees anything of each of several texts with names. */
export function areVisible(texts: readonly string[], names: readonly string[]): boolean {
  return texts.every((text, at) => isVisible(text, names[at], names));
}

/** Whether a text has a visible character, of a tag or outside of one, and is not a gap to be filled. One or two blanks may be a separator. */
export function hasInk(text: string): boolean {
  const shown = withoutComments(text).replace(joiner, '').replace(blank, ' ').replace(gap, '');
  return ink.test(shown) || /^[ \t\n]{1,2}$/.test(text);
}

/** The words of a text that a reader sees: what blanks part and has a letter, a digit or a sign of its own, such as an emoji. */
export function seenWords(text: string): readonly string[] {
  const words = seenText(text).match(/\S+/gu) ?? [];
  return words.filter((word) => /[\p{L}\p{N}\p{So}]/u.test(word));
}
