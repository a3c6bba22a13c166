const foreignDenial =
  /(?:^|\s)не(?=\s)|不是|不为|并非|ではな|ではあり|じゃな|아니|아닙|değil|ليس|\bnon è|\bnão é|\b(?:nicht|keine?|n['’]est pas|no es|tidak|bukan)\b/;

/** Words about an answer of somebody else, or a wrong one. Points lie on a line, and pupils make 5 mistakes. */
const strange =
  'wrong|incorrect|mistaken|(?<=\\b(?:a|an|by|the|my|common|usual) )mistake|suppose|assum(?:e|ing)|whether|(?<=\\ba )lie';

const disowning = new RegExp(`(?<![a-z])(?:${strange})(?![a-z])|${foreignDenial.source}`, 'i');

const negative = new RegExp(
  String.raw`${foreignDenial.source}|^(?:(?:now|next),? )?(?:let|try|consider|check)\b|\bno way\b|\b(?:tempting|not(?! exist)|cannot|never|neither|unlikely|hardly|${strange}|(?<!\bno )doubt)\b|\bfalse that\b|n't\b|n’t\b|thing (?:but|except|other than)\b`,
  'i',
);
const conditional = /\bif\b[^.!?\n]{0,80}\banswer would\b/i;

/** What parts a sentence from its conclusion. */
const consequence = /[,;]\s+(?:and\s+)?(?:so|thus|hence|therefore)\s/;

/** A clause with a condition, a reason or a comparison. A clause about an answer does not count. */
const side = String.raw`(?:(?!\b(?:wrong|incorrect|mistaken|false|answer|says?|thinks?)\b)[^,;:.!?\n]){1,80}`;
const comparison =
  'which (?:is|are) (?:less|more|fewer|greater|larger|smaller|higher|lower|within|below|above|under|over)|which cannot be (?:simplified|reduced|factored)';
const subordinate = new RegExp(
  String.raw`^(?:(?:thus|so|hence|therefore|then|now),?\s)?(?:assuming|if|because|since|given|as|when|while|although|though)\b${side},\s|,\s[$\d.]+\s(?:more|less|fewer)\s+than\b${side}(?=[.!]?$)|,?\s(?:assuming|because|since|given|provided|when|${comparison})\b${side}(?=[.!]?$)`,
  'gi',
);

/** What a sentence states: its conclusion, without conditions, reasons and comparisons. */
export function statement(sentence: string): string {
  const conclusion = sentence.split(consequence).findLast((clause) => /\d/.test(clause)) ?? sentence;
  const stated = conclusion.replace(subordinate, '');
  return /\d/.test(stated) || !/\d/.test(conclusion) ? stated : conclusion;
}

/** Whether words of a sentence deny the answer in it. */
export function isDenied(sentence: string): boolean {
  return conditional.test(sentence) || negative.test(statement(sentence.trim()));
}

/** Words and signs of a bound, a range or an unfinished calculation. The number beside them is not the value. */
export const inexact =
  /[<>?~]|\b(?:twice|thrice|double|triple|half|negative|minus|root|times)(?: of)? \$?\d|\d (?:squared|cubed|and an? (?:half|third|quarter))\b|\b(?:more|less|fewer|greater|larger|smaller|higher|lower) than\b|\b(?:at (?:least|most)|over|under|up to)\s\$?\d|\bbetween\b|\banswer\s(?:has|contains)\b/i;

const negation = new RegExp(
  String.raw`(?:(?:${foreignDenial.source}|\b(?:can)?not|\bnever|n't|n’t)(?:\s+(?:be|equal|to|the|exactly))*|\d\s+or)[\s$\\({*]*(?:f?boxed[{\s]*)?$`,
  'i',
);
export const denial =
  /^[\s$\\)}*]*(?:\?|,?\s{0,4}which\s+(?:I|we)\s+(?:now\s+|must\s+|have to\s+)?(?:reject|discard|withdraw|retract|rule out)|,?\s{0,4}or\s+(?:\w+\s+){0,2}not\b|(?:,?\s{0,4}(?:but|though|although|yet|which)\s+)?(?:(?:this|that|it)\s+)?(?:is|was|would be)(?:\s+(?:not|never|wrong|incorrect)|n't|n’t)\b|[.!?*"'”)\s]*\(?(?:(?:this|that|it|which) (?:is|was) (?:a |an )?(?:wrong|incorrect|false|lie|joke|mistake|error|not (?:right|correct|true))\b|(?:[A-Z][a-z]+: ?)?(?:wrong|incorrect|false)[.!]))/i;

/** The end of a response that gives no answer after all. */
export const gaveUp =
  /\bI(?: am|['’]m)? (?:can(?:no|['’])t|unable to|do(?: not|n['’]t)) (?:determine|solve|answer|know|say|tell)(?: (?:this|that|it|the (?:answer|question|problem)))?[.!]?\s*$/i;

/** A writer who gives no answer. */
export const refusal =
  /\bI(?: am|['’]m)? (?:can(?:no|['’])t|unable to|do(?: not|n['’]t)) (?:determine|solve|answer|find|know|say|tell)\b|\bthe (?:question|problem|task) (?:asks|gives|says|states)\b[^.!?]*[.!?]?$/i;

/** Words that doubt what follows them: "I don't think that the answer is". */
export const doubt =
  /(?:\b(?<!\bno )doubt|\b(?:deny|denies|unlikely|hardly|impossible|false|no way)|(?<=\bnot|n['’]t)\s+(?:\w+\s+)?(?:think|believe|say|claim|sure|certain|true|clear|case|agree))\b[^.!?\n:;]{0,30}$|\b(?:suppose|assum(?:e|ing)|if|whether)\s+(?:that\s+)?(?:the\s+)?(?:\w+\s+)?$|\b(?:wrong|incorrect|mistaken|naive|tempting)[\s_]+$|\bor\s+(?:possibly|perhaps|maybe|else|even)\b[^.!?\n:;]{0,30}$|\bmy (?:first|initial|original) (?:guess|attempt|thought|answer) was\b[^.!?\n:;]{0,30}$/i;

/** What a text says at a place, unless the words around it deny it: "not \boxed{18}". */
export function undenied(text: string, found: string, at: number): string | undefined {
  const isDenied =
    negation.test(text.slice(Math.max(0, at - 60), at)) ||
    doubt.test(text.slice(Math.max(0, at - 80), at)) ||
    denial.test(text.slice(at + found.length).slice(0, 60));
  return isDenied ? undefined : found;
}

const ends = /[.!?]\s|\n/;

/** Whether the sentence around a place is about an answer of somebody else: "Anyone who says 18 is mistaken". */
export function disowned(text: string, at: number): boolean {
  const before = text
    .slice(Math.max(0, at - 200), at)
    .split(ends)
    .at(-1)!;
  return disowning.test(statement(before + text.slice(at).slice(0, 200).split(ends, 1)[0]!));
}

/** A writer who takes an answer back: "Oops", "Scratch that", "On second thought", "Actually, that is wrong". */
const retraction =
  /\b(?:oops|just kidding|scratch that|hold on(?=[,.:;!])|(?:no longer (?:believe|trust|think)|(?:withdraw|retract|disregard)) (?:this|that|it|(?:the|my)(?: \w+)? (?:answer|result|solution|guess|claim)(?: of \S+)?)|(?:I )?(?:must |have to )?take (?:that|this|it) back|actually,? no(?=[,.:;!])|(?:correction|edit)(?=\s?:)|apologies|on second thoughts?|i (?:meant|was wrong|used (?:the|a) wrong|(?:made|see) (?:an?|my) (?:\w+ )?(?:mistake|error))|(?:the (?:above|previous)(?: \w+)?|my (?:previous|earlier|first) \w+) (?:is|was) (?:wrong|incorrect)|(?:this|that|it) can(?:no|['’])t be (?:right|correct)|(?:actually|wait|no|hmm),? (?:that|this|it)(?: is|['’]s| was| isn['’]t) (?:wrong|incorrect|false|not right|right|not correct))\b/gi;

/** What follows the last words that take an answer back. */
export function withoutRetracted(text: string): string {
  let end = 0;
  for (const match of text.matchAll(retraction)) end = match.index + match[0].length;
  return end === 0 ? text : text.slice(end).replace(/^[\s,.:;!]+/, '');
}
