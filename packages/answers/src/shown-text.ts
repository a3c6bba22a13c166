/**
 * What a page or TeX does not show of its source: elements that are hidden, white or struck out, lines and parts that TeX skips or only leaves room
 * for, and signs struck through. What has no end reaches to the end of the text, so that all is read once. A literal, because bundlers
 * drop it from pages that do not use it.
 */
const unshown =
  /<([a-z]\w*)\b(?:(?<=<(?:del|strike|template|script|style))|(?=[^<>]{0,300}(?:\shidden\b|(?:display|visibility|opacity|font-size)\s{0,3}:\s{0,3}(?:none|hidden|0(?![.\d])|0?\.\d{1,9}p[tx])|(?<!-)color\s{0,3}[:=]\s{0,3}["']?(?:white|transparent|#f{3}(?:f{3})?(?![\da-f])|rgba?\(\s?255,\s?255,\s?255))))[^<>]*>[\s\S]*?(?:<\/\1>|$)|~~[^~\n]+~~|(?<=^|[^\d\n]\n|\n\n)[^\S\n]*%[^\n]*|\\iffalse\b[\s\S]*?(?:\\fi\b|$)|\\begin\{comment\}[\s\S]*?(?:\\end\{comment\}|$)|\\[hv]?phantom\s*\{(?:[^{}]|\{[^{}]*\})*\}|[\p{L}\p{N}][\u0335-\u0338\u20d2\u20d3\u20e0\u20e5\u20ea\u20eb]+/giu;

/** A text without what its reader does not see: comments and hidden elements, text struck through, what TeX skips. Linear. */
export function shownText(text: string): string {
  return withoutComments(text).replace(unshown, '');
}

/** A text without HTML comments. One that does not end reaches to the end of the text. */
export function withoutComments(text: string): string {
  return text.replace(/<!--.*?(-->|$)/gs, '');
}

const thoughtStart =
  /<(?:seed:)?think(?:ing)?>|<thought>|◁think▷|\[THINK\]|<\|(?:begin_of_thought|channel\|>analysis<\|message)\|>/i;
const thoughtEnd =
  /<\/(?:seed:)?think(?:ing)?>|<\/thought>|◁\/think▷|\[\/THINK\]|<\|(?:end_of_thought|channel\|>final<\|message)\|>/gi;

/** Tokens that end a turn, and a question that a base model puts behind its answer. */
const endOfTurn =
  /(?<=\d[^\n]{0,300}\n\n)(?:Question|Problem|Q):[\s\S]*$|(?:<\|\w{2,15}\|>(?:user|assistant|system)?|<end_of_turn>|<\/s>)\s*$/;

/** What a text says after its last thought, and before one that is not closed. */
export function withoutThoughts(text: string): string {
  let start = 0;
  for (const match of text.matchAll(thoughtEnd)) start = match.index + match[0].length;
  return text.slice(start).split(thoughtStart, 1)[0]!.replace(endOfTurn, '');
}
