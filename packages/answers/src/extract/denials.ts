const foreignDenial =
  /(?:^|\s)не(?=\s)|不是|不为|并非|\bnon è|\bnão é|\b(?:nicht|keine?|n['’]est pas|no es|tidak|bukan)\b/;

/** A word that denies an answer. */
export const negativeWord = new RegExp(
  String.raw`${foreignDenial.source}|^(?:(?:now|next),? )?(?:let|try|consider|check)\b|\bno way\b|\b(?:tempting|not(?! exist)|cannot|never|neither|wrong|incorrect|unlikely|hardly|suppose|assum(?:e|ing)|(?<!\bno )doubt)\b|\bif\b[^.!?\n]{0,80}\banswer would\b|\bfalse that\b|n't\b|n’t\b|thing (?:but|except|other than)\b`,
  'i',
);

/** Words and signs of a bound or a range: what they stand with is no value. */
export const inexact =
  /[<>?~]|\b(?:more|less|fewer|greater|larger|smaller|higher|lower) than\b|\b(?:at (?:least|most)|over|under|up to)\s\$?\d|\bbetween\b|\banswer\s(?:has|contains)\b/i;

const negation = new RegExp(
  String.raw`(?:(?:${foreignDenial.source}|\b(?:can)?not|\bnever|n't|n’t)(?:\s+(?:be|equal|to|the|exactly))*|\d\s+or)[\s$\\({*]*(?:f?boxed[{\s]*)?$`,
  'i',
);
export const denial =
  /^[\s$\\)}*]*(?:\?|,?\s{0,4}which\s+(?:I|we)\s+(?:now\s+|must\s+|have to\s+)?(?:reject|discard|withdraw|retract|rule out)|,?\s{0,4}or\s+(?:\w+\s+){0,2}not\b|(?:,?\s{0,4}(?:but|though|although|yet|which)\s+)?(?:(?:this|that|it)\s+)?(?:is|was|would be)(?:\s+(?:not|never|wrong|incorrect)|n't|n’t)\b)/i;

/** A writer who gives no answer. */
export const refusal =
  /\bI(?: am|['’]m)? (?:can(?:no|['’])t|unable to|do(?: not|n['’]t)) (?:determine|solve|answer|find|know|say|tell)\b|\bthe (?:question|problem|task) (?:asks|gives|says|states)\b[^.!?]*[.!?]?$/i;

/** Words that doubt what follows them: "I don't think that the answer is". */
export const doubt =
  /(?:\b(?<!\bno )doubt|\b(?:deny|denies|unlikely|hardly|impossible|false|no way)|(?<=\bnot|n['’]t)\s+(?:\w+\s+)?(?:think|believe|say|claim|sure|certain|true|clear|case|agree))\b[^.!?\n:;]{0,30}$|\b(?:suppose|assum(?:e|ing)|if|whether)\s+(?:that\s+)?(?:the\s+)?(?:\w+\s+)?$|\b(?:wrong|incorrect|mistaken|naive|tempting)\s+$|\bor\s+(?:possibly|perhaps|maybe|else|even)\b[^.!?\n:;]{0,30}$|\bmy (?:first|initial|original) (?:guess|attempt|thought|answer) was\b[^.!?\n:;]{0,30}$/i;

/** What a text says at a place, unless the words around it deny it: "not \boxed{18}". */
export function undenied(text: string, found: string, at: number): string | undefined {
  const isDenied =
    negation.test(text.slice(Math.max(0, at - 60), at)) ||
    doubt.test(text.slice(Math.max(0, at - 80), at)) ||
    denial.test(text.slice(at + found.length).slice(0, 60));
  return isDenied ? undefined : found;
}

/** A writer who takes an answer back: "Oops", "Scratch that", "On second thought", "Actually, that is wrong". */
const retraction =
  /\b(?:oops|scratch that|hold on(?=[,.:;!])|(?:no longer (?:believe|trust|think)|(?:withdraw|retract|disregard)) (?:this|that|it|(?:the|my)(?: \w+)? (?:answer|result|solution|guess|claim)(?: of \S+)?)|(?:I )?(?:must |have to )?take (?:that|this|it) back|actually,? no(?=[,.:;!])|(?:correction|edit)(?=\s?:)|apologies|on second thoughts?|i (?:meant|was wrong|used (?:the|a) wrong|(?:made|see) (?:an?|my) (?:\w+ )?(?:mistake|error))|(?:the (?:above|previous)(?: \w+)?|my (?:previous|earlier|first) \w+) (?:is|was) (?:wrong|incorrect)|(?:this|that|it) can(?:no|['’])t be (?:right|correct)|(?:actually|wait|no|hmm),? (?:that|this|it)(?: is|['’]s| was| isn['’]t) (?:wrong|incorrect|false|not right|right|not correct))\b/gi;

/** What follows the last words that take an answer back. */
export function withoutRetracted(text: string): string {
  let end = 0;
  for (const match of text.matchAll(retraction)) end = match.index + match[0].length;
  return end === 0 ? text : text.slice(end).replace(/^[\s,.:;!]+/, '');
}
