import { ink, seenText, shownText, withPlainBlanks } from '@rlp/answers/text';

/** Marks of Markdown around nothing: fences, empty items and headlines, rules, rows of tables. */
const structure =
  /\\[nrt](?![a-z])|`{3}\w*|^[^\S\n]*(?:[-*+>]|\d{1,3}[.)]|#{1,6})[^\S\n]+$|^(?=[^|\n]*\|)[ \t|:-]+$|[*_~]{2,}|[-=]{3,}|\$/gm;

/** A gap to be filled: dots, lorem ipsum, `[your answer]`, `<insert the number here>`, `{{answer}}`. Lists and steps such as `[add, sub]` and `[Add 3 to both sides]` are none. */
const gap =
  /^\s*(?:[.…_][\s.…_]*|lorem ipsum dolor\b[\s\S]*|\{\{[^{}]*\}\}|(?:[[{<(]|&lt;)(?:(?:your|insert|enter|fill)[ _](?![^\]}>)&]*\binto\b)[^\]}>)&,\d]*|(?:put|write|add)[ _][^\]}>)&,\d]{0,80}(?:(?<=[ _])(?:here|below|answer|number|result|solution|title|text|reasoning|thoughts?|explanation)|\byour\b[^\]}>)&,\d]{0,80}))(?:[\]}>)]|&gt;)[\])}.:!…\s]{0,20})$/i;
/** Words for a text that is still to be written: `thinking goes here`, lorem ipsum. As values of data they may be meant, such as the status "todo". */
const placeholder =
  /^\W*(?:lorem ipsum\b[\s\S]*|(?:(?:(?:write|put|insert|add|your?|the|my|some|step|by|thinking|thoughts?|reasoning|answer|process|explanation|goes?|text) ){1,6}here|placeholder|to ?do|tbd|(?:(?:my|the) )?(?:answer|reasoning|explanation) (?:is|comes|stands|follows)(?: (?:below|above|next|now))|your (?:reasoning|thoughts?|thinking|answer|explanation))[\])}.:!…\s]{0,20}|(?:(?:the|my|so|final|correct|is|answer)\b\W*){2,9}|(?<=[[{<(])(?:(?:the|final|correct)[ _])*(?:answer|number|value|result|solution|amount|(?<=[ _])(?:name|title|text|content|word))[\]}>)])$/i;
/** A text that only points at another one: `see the reasoning above`. */
const pointer =
  /^(?=.{0,200}$)(?=.*\b(?:(?:see|refer|cf)\b.*\b(?:above|below|before|earlier|later|next|previous|thoughts?|thinking|reasoning|answer)|(?:same )?as (?:(?:given|said|stated|shown|described|in|the|my) )*(?:above|below|before|earlier|thoughts?|thinking|reasoning|answer))\b)\W*(?:(?:please|see|refer|look|as|in|at|to|the|my|same|cf|is|it|given|said|stated|shown|described|above|below|before|earlier|later|next|previous|section|tags?|thoughts?|thinking|reasoning|answer)\b\W*)+$/is;
/** Words of a thought that does not think: of talk, of order, of thinking itself, gaps in brackets. `second` and the like count unless they stand for a step or a moment. */
const idle =
  /\[[\p{L} ,'’]*\]|(?<![\p{L}\p{N}])(?:steps? ?(?:number )?\d+|n\/a|h+m+|u+[hm]+|(\p{L})\1{4,}|(?:second|last)(?= steps?(?!\p{L})|\s?[,:])|(?:wait|just|one) (?:a )?second|(?:(?:one more|another|next|this) )time|time(?= to(?! \p{N}))|over(?: (?:it|this|that|again|once|and|over)(?!\p{L}))+|(?:go|look|think) (?:(?:it|this|that|things) )?over|(?:no|to|will|must|should|i|me|let['’]?s) reason|again|ah|ahead|alright(?:y)?|analy[sz]e|analysis|answer|ask(?:s|ed|ing)?|anyway|begin|blah|brevity|calculat(?:e|ing)|carefully|completed?|comput(?:e|ing)|conclude|continue|done|easy|er|etc|final|finally|fine|finish|first|fourth|goes|going|gonna|good|great|here|hey|hidden|internal|know|let|loading|look|maybe|moment|need|needed|next|no|none|nothing|now|obvious|obviously|off|oh|ok|okay|omitted|please|problem|proceed|process|processing|question|ready|really|reasoning|redacted|required|necessary|right|see|should|skip|skipped|so|solv(?:e|ing)|start|started|steps?|sure|then|think|thinking|third|thoughts?|trivial|try|user|wait|well|yeah|yep|yes)(?![\p{L}\p{N}])/giu;
/** Words between them. */
const small =
  /(?<![\p{L}\p{N}])(?:a|about|actually|all|also|am|an|and|any|are|as|at|away|be|because|been|before|but|by|come|do|does|end|for|from|get|give|go|got|have|i|idea|if|in|instead|into|is|it|just|like|me|more|my|not|of|on|once|one|or|our|part|shall|some|something|still|take|tell|that|the|them|there|these|they|things?|this|those|through|to|up|us|was|way|we|what|when|will|with|without|would|you|your)(?![\p{L}\p{N}])|['’]\p{L}+/giu;

/** What says how many or which, though all its words are idle or small: `none of them`, `it is the third`, `the first is right`. */
const finding =
  /\b(?:none|all|any|some|most|many|each|both|neither|either|one) of (?:them|these|those|us)\b|\bthere (?:is|are|was|were) none\b|\b(?:it|they|he|she|that|this) (?:(?:is|was|are|were|must be) )?(?:not )?(?:the )?(?:first|second|third|fourth|fifth|last|next|same)(?=[.!]?$| as\b)|\bthe (?:first|second|third|fourth|fifth|last|next) (?:one )?(?:is|was) (?:not )?(?:right|it|there)\b|\b(?:it|they|he|she) (?:is|was|are|were|does|do|did)(?: not|n['’]t)[.!]?$|\bno one\b(?! (?:needs|will))/iu;

/** Whether a thought has no words, or idle ones and small ones between them. */
function isIdle(thought: string): boolean {
  if (finding.test(thought.trim())) return false;
  if (/^\W*(?:null|undefined)\W*$/i.test(thought)) return true;
  const [said, rest] = [thought.replace(idle, ''), thought.replace(idle, '').replace(small, '')];
  return !/[\p{L}\p{N}]/u.test(said === thought ? said : rest);
}

/**
 * Whether a reader sees anything of a text, be it an image. Comments, markup around nothing, dots, placeholders, pointers to another text and
 * repetitions of the name of the text, or of those beside it, do not count, nor does idle talk in a thought.
 */
export function isVisible(text: string, name = '', names: readonly string[] = [name]): boolean {
  const shown = seenText(text)
    .replace(structure, '')
    .replace(gap, '')
    .replace(placeholder, '')
    .replace(pointer, '');
  const seen = /^(?:think|thought|reason)/i.test(name) && isIdle(shown) ? '' : shown;
  return (
    ink.test(
      name === '' ? seen : seen.replace(new RegExp(`^\\W*(?:(?:${names.join('|')})\\W*)+$`, 'i'), ''),
    ) || /<(?:img|svg|video)\s[^<>]*\bsrc\s?=\s?["']?[^"'\s>]/i.test(shownText(text))
  );
}

/** Whether a text has a visible character, of a tag or outside of one, and is not a gap to be filled. */
export function hasInk(text: string): boolean {
  const shown = withPlainBlanks(text.replace(/<!--.*?(-->|$)/gs, ''));
  return ink.test(shown.replace(gap, ''));
}
