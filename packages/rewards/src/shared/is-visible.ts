import { withoutComments } from '@rlp/answers/text';

/** Anything but white space, control and ignorable characters, code points without a meaning, marks alone, and blanks with another name. */
const ink = /[^\p{C}\p{M}\p{Z}\p{DI}\u2800]/u;

/** Hidden elements, tags without attributes, links without a text, marks of Markdown and LaTeX around nothing, and blanks by name. */
const unseenMarkup =
  /<(\w+)[^<>]{0,300}(?: hidden|: ?none)\b[^<>]*>[^<]*<\/\1>|<\/?[a-z][\w-]*\s*\/?>|(?<!!)\[\s*\]\([^()\n]*\)|^\[[^\]\n]*\]:.*|`{3}\w*|[*_~]{2,}|[-=]{3,}|\$|\\(?:q?quad|[,;:! ]|phantom\{[^{}]*\})|&(?:\w{0,14}sp(?:ace|1[34])?|NoBreak|zwn?j|shy|lrm|rlm|Tab|NewLine|#(x?)(\w+));/gim;

/** Whether a reader sees anything of a text. Comments and markup around nothing do not count. */
export function isVisible(text: string): boolean {
  return ink.test(
    withoutComments(text).replace(unseenMarkup, (_, _tag, x = '', code = '') =>
      String.fromCharCode(Number((x && '0x') + code)),
    ),
  );
}
