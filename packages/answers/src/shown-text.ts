import { isFaint } from './faint-colours.ts';

/**
 * Tags of elements whose content a page does not show, as Chromium has it: these of HTML, and all that an attribute, a class, a colour or a style with
 * other properties than these may hide. Elements that HTML does not know are shown.
 */
const unshownTag =
  /^(?:(?:annotation(?:-xml)?|audio|canvas|datalist|defs|del|desc|dialog(?!.*\sopen\b)|fencedframe|iframe|metadata|meter|no(?:embed|frames|script)|object|opt(?:ion|group)|progress|rp|script|select|slot|strike|style|template|title|video)(?![\w-])|.*(?:\s|(?<=[\w"']["']|^\w+\/))(?:hidden\b|color\s?=\s?["']?(?:white|transparent|#f{3}(?:f{3})?\b)|style\s?=\s?["']?(?!(?:\s*(?:(?:background(?:-color)?|color)\s*:|font-(?:weight|style|family)\s*:|font(?:-size)?\s*:\s*(?:\d{2}|[2-9]|1(?:\.\d+)?r?em|\w*-?(?:small|large))|text-(?:align|transform|decoration\s*:\s*(?:under|over|none))|display\s*:\s*(?:inline|block|flex|grid|table)|(?:line-height|white-space|vertical-align|list-style[\w-]*|float|box-shadow|gap)\s*:|letter-spacing\s*:\s*\d|(?:max-)?width\s*:\s*[1-9]|opacity\s*:\s*(?:1|0?\.[3-9])|(?:margin|padding|border)(?![^;]*-\d))[^;"']*(?:;|(?=["']|$)))*\s*(?:["']|$))))/is;

/** Elements without a text. */
const empty = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
/** Long addresses and shapes. */
const long = /(?<!style\s{0,9}=\s{0,9})(["'])[^"'<]{300,}\1/gi;

/** Whether an element hides its text, or has so many attributes that they are not read. */
function isUnshown(name: string, attributes: string): boolean {
  if (empty.test(name)) return false;
  const read = name + (attributes.length > 300 ? attributes.replace(long, '""') : attributes);
  return read.length > 2000 || unshownTag.test(read) || isFaint(read);
}

/** Code, which a page shows as it is, comments of all kinds, tags, and the end. Titles in `<<…>>` are no tags. */
const part =
  /`{3}[^`\n]*\n[\s\S]*?(?:`{3}|$)|`[^`\n]+`|<!--[\s\S]*?(?:-->|$)|<(?:[!?]|\/(?![a-z>]))[^<>]*>|(?<!<)<(\/?)([a-z][\w-]*)((?:[\s/](?:(?:[^<>"']|"[^"<]*"|'[^'<]*')*|[^<>]*))?)>(?!>)|$/gi;

/** What follows a tag that is named, as in "`<option>`s" or "the <video> element". */
const named = /^(?:[\s.,;:)`'’"?!]|-\p{Ll}|s(?![\p{L}\p{N}])|(?:tag|element|block|node)s?(?!\p{L}))/u;

/** A text without comments, and without elements that its page does not show if they have this text in them. Linear. */
export function withoutHidden(text: string, holding = ''): string {
  let [shown, at, start, depth, hidden] = ['', 0, 0, 0, ''];
  const ends = new Map<string, number>();
  /** Whether words around a tag only name it, or it is part of a type. */
  const isNamed = (from: number, to: number) =>
    /[a-z_]/i.test(text.charAt(from - 1)) || named.test(text.slice(to, to + 20));
  /** Whether an element ends. A name alone, as in `List<Object>`, is text. */
  const isClosed = (name: string, from: number): boolean => {
    const last = ends.get(name) ?? text.toLowerCase().lastIndexOf(`</${name}`);
    ends.set(name, last);
    return last >= from;
  };
  for (const { 0: one, 1: slash, 2: name = '', 3: attributes = '', index } of text.matchAll(part)) {
    const [own, isComment, end] = [name.toLowerCase(), one[0] === '<' && name === '', index + one.length];
    if (depth === 0) {
      const isHidden = slash === '' && isUnshown(own, attributes);
      if (!isComment && (!isHidden || (attributes === '' && isNamed(index, end) && !isClosed(own, end))))
        continue;
      [start, depth, hidden] = [index, isComment ? 0 : 1, own];
    } else if (own === hidden) depth += slash === '' ? 1 : -1;
    if (depth > 0 && one !== '') continue;
    shown += text.slice(at, isComment || text.slice(start, end).includes(holding) ? start : end);
    at = end;
  }
  return shown + text.slice(at);
}

/** What else a page or TeX does not show: text and signs struck out, footnotes, definitions and targets of links, what TeX skips or leaves room for. A literal, so that bundlers may drop it. */
const unshown =
  /~~[^~\n]+~~|(?<=^|[^\d\n]\n|\n\n)[^\S\n]*%[^\n]*|(?<=^|\n) {0,3}\[(?:\^[^\]\n]{1,80}\]:[^\n]*|[^\]\n]{1,80}\]:[^\S\n]*(?:https?:|[#/][a-z]|[#/](?=\s+\()|<[a-z#/][^<>\s]*>)\S*(?:[^\S\n]+[\x22'(][^\n]*)?(?=\n|$))|!?\[\]\([^()\n]*\)|\\iffalse\b[\s\S]*?(?:\\fi\b|$)|\\begin\{comment\}[\s\S]*?(?:\\end\{comment\}|$)|\\[hv]?phantom\s*\{(?:[^{}]|\{[^{}]*\})*\}|[\p{L}\p{N}][\u0335-\u0338\u20d2\u20d3\u20e0\u20e5\u20ea\u20eb]+/giu;

/** A text without what its reader does not see: comments and hidden elements, text struck through, what TeX skips. Linear. */
export function shownText(text: string): string {
  return withoutHidden(text).replace(unshown, '');
}

/** Elements that hold no prose for any reader. */
const sourceTag = /<(\/?)(annotation|desc|metadata|script|style|title)(?=[\s>])[^<>]*>/gi;

/** A text without closed elements that hold no prose for any reader: scripts, styles, titles and such. Linear. */
export function withoutSources(text: string): string {
  const lower = text.toLowerCase();
  const ends = new Map<string, number>();
  let [kept, at, open, start] = ['', 0, '', 0];
  for (const { 0: one, 1: slash, 2: given = '', index } of text.matchAll(sourceTag)) {
    const name = given.toLowerCase();
    const end = ends.get(name) ?? lower.lastIndexOf(`</${name}`);
    ends.set(name, end);
    if (open === '' && slash === '' && end > index) [open, start] = [name, index];
    else if (open === name && slash !== '') {
      kept += text.slice(at, start);
      [at, open] = [index + one.length, ''];
    }
  }
  return kept + text.slice(at);
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
