/** Anything but white space, control and ignorable characters, code points without a meaning, marks alone, and blanks with another name. */
const ink = /[^\s\p{C}\p{M}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Tags without attributes, marks of Markdown and LaTeX around nothing, and blanks by their HTML names or numbers. */
const unseenMarkup =
  /<\/?[A-Za-z][\w-]*\s*\/?>|`{3}\w*|[*_~]{2,}|-{3,}|={3,}|\$\s*\$|&(?:[a-z]{0,5}sp(?:1[34])?|\w{2,14}Space|NoBreak|zwn?j|shy|lrm|rlm|Tab|NewLine|#0*(?:9|10|13|32|160|173|(?:819[2-9]|820[0-7])|10240)|#x0*(?:9|a|d|20|a0|ad|200[0-9a-f]|2800));/gi;

/** Whether a reader sees anything of a text. Comments and markup around nothing do not count. */
export function isVisible(text: string): boolean {
  return ink.test(text) && ink.test(withoutComments(text).replace(unseenMarkup, ''));
}

/** A text without HTML comments. One pass, so that many beginnings without an end cost no more. */
export function withoutComments(text: string): string {
  const [before, ...parts] = text.split('<!--');
  const shown = parts.map((part) => (part.includes('-->') ? part.slice(part.indexOf('-->') + 3) : part));
  return [before, ...shown].join('');
}
