import type { Candidate } from './candidate.ts';

/** What a text does with a value in it. */
export type Stance = 'asserts' | 'denies' | 'hedges' | 'bounds' | 'attributes' | 'supposes' | 'asks';

/**
 * How texts take a stance to a value `•`, one form a line. `…` are words of its clause without a verb like "is", `~` are words of its
 * sentence. Other languages stand beside English. The first form that fits decides.
 */
const forms: Readonly<Record<Exclude<Stance, 'asserts'>, string>> = {
  denies: String.raw`
    (?:\w*n't|not|never|cannot|neither|hardly|unlikely)(?! only| just| exist) … •
    (?:\w*n't|not|never) (?:\w+ )?(?:think|believe|say|claim|sure|certain|true|clear|case|agree) ~ •
    (?<!no |without (?:a )?)(?:doubt|deny|denies|impossible|no way|false that|untrue|(?:lie|myth|hoax) that) ~ •
    (?:withdraw|reject|retract|exclude|eliminate|rule out) … •
    (?:\w*n't|not|never) equal(?: to)? •|(?:different|differs|other|distinct) (?:from|than) •
    (?:no one|nobody) (?:should|would|could|says?|said|thinks?|believes?) ~ •
    \w*(?:thing|where|one|body) (?:but|except|other than) … •
    ^\W*(?:no|except|excluding|unlike) (?:an? |the )?•|non-•|[≠¬✗✘❌✖] ?•|(?<=[a-z] |^)!=? ?•
    •\W{0,4}(?:(?:is|was) )?(?:ruled out|no chance|a lie|untrue|false$|0 ?%|👎|[✗✘❌✖])
    •(?: \w+)? (?:fails|cannot|(?:is|was|are|would be|does|can|could|should)(?: \w+ly)?(?:n't| not| never)(?! divisible))
    •\W? (?:\w+ ){0,3}?(?:is|was|are|would be) (?:\w+ly )?(?:(?:an?|the) (?:\w+ )?)?(?:wrong|incorrect|false|mistaken?|impossible|lie|joke|trap)
    •[^.\d]*\W(?:who|which|it|that|this) (?:is|was) (?:\w+ )?(?:wrong|incorrect|mistaken)
    •,? (?:(?:but|and|which|that|it|I|we|now|must|have to) ){1,4}(?:not|reject|discard|withdraw|retract|rule out)
    •[^.]*, (?:but|yet|although|though) (?:this|that|it|I|we)\b
    •[.!)\] ]{0,3}\(?(?:[A-Z][a-z]+: ?)?(?:wrong|incorrect|false)[!.)]
    •[^.\d]*[.!?] \W?(?:(?:\w+ ){0,2}\w+,? )?(?:this|that|it|which)(?: guess| answer| value| result)?(?:'s| is| was)? (?:\w+ )?(?:wrong|incorrect|false|lie|joke|mistake|error|fail(?:s|ed)?|not (?:right|correct|true))\b
    •[^,.]* (?:falsch|faux|fals[oa]|errad[oa]|sbagliat[oa]|yanlış|salah|неверн|неправильн)
    (?:не|non|não|nicht|keine?|keinesfalls|keineswegs|pas|no es|niet|geen|ikke|inte|aldrig|nunca|jamais|nooit|nem|nie|tidak|bukan|ليس) … •
    •[^,.]*(?:ではな|ではあり|じゃな|아니|아닙|değil| nicht)|(?:不是|不为|并非) ?•`,
  hedges: String.raw`
    (?<!\S)\d+ or •|(?:might|may|could) (?:well )?be •|(?:might|may|could) also … •
    • (?:is|would be) (?:also |just as |equally )?(?:plausible|possible|conceivable|likely)`,
  bounds: String.raw`
    (?:(?:more|less|fewer|greater|larger|smaller|higher|lower) than|(?<!(?:must|need|needs to|has to|have to) (?!be)\w+ )at (?:least|most)|over|under|above|below|up to|between) •
    (?:lies?|ranges?|ranging|somewhere|anywhere) (?:from|between) \S+ (?:to|and) •
    (?:twice|thrice|double|triple|half|root|times|minus|negative)(?: of)? •|(?<= )[<>] ?•|~ ?•
    bound is •|• (?:is|was|are|would be) too\b
    • (?:sure|certain|confident)\b
    • (?:squared|cubed|and an? (?:half|third|quarter))\b|• (?:more|less|fewer) than (?:the )?\d`,
  attributes: String.raw`
    (?:wrong|incorrect|mistaken|naive|false) (?:answer|guess|value|result|number|choice|option|solution|formula) ~ •
    tempting ~ •|mistake(?: is| was| would be)? to ~ •
    (?<!\b(?:I|we|I would|I'd|can|should|instinctively) )(?:says?|said|(?:wrote|writes|stated|insists?)(?= that)|thinks?|thought|claims?|guess|(?:may|might|could) get)(?: that)?(?: (?:it|the \w+(?: \w+)?))?(?:'s| is| was|:)? •
    • is what
    •[^.]*, \w+ of (?:which|whom)\b
    (?:according to(?! (?:the|this) (?:text|passage|table|article|story)\b)|laut|según|selon|segundo|secondo|согласно|根据) ~ •
    answer (?:has|contains) •
    \w+(?<!let)'s (?:answer|guess) ~ •
    (?:people|others|someone|students|many|some) (?:(?:would|might|may|could) )?(?:pick|choose|answer|go with) •
    my (?:first|initial|original) (?:guess|attempt|thought|answer) was ~ •
    the (?:question|problem|task) (?:asks|gives|says|states) … •
    (?:took me|I (?:solved|answered|finished|did|made|tried|needed|used|spent)(?: \w+){0,2}?)(?: (?:in|only|just|about))? • (?:\w+ )?(?:minutes?|seconds?|hours?|steps?|attempts?|tries|approaches|drafts|ways)
    ^\W*(?:(?:final|total) )?(?:score|reward|grade|rating|confidence|correctness|is_correct|verdict)\W{0,4}[:=] ?•
    (?:grader|scorer|evaluator) (?:should|must|will|has to) … •`,
  supposes: String.raw`
    (?<!and )only if ~ •
    (?:suppose|supposing|assum(?:e|ing)|whether) ~ •
    ^(?:(?:now|next),? )?(?:let|try|consider|check)(?: \w+ =)? … •
    ^(?:step \d+\W+|(?:now|next|then|finally),? )?(?:(?:we|I) (?:then |now )?)?(?:add|subtract) •|(?:multipl(?:y|ies|ied)|divided?s?)(?: \w+){0,4} by •
    if ~ (?:(?:had|were) ~ would|answer would|wrong|forgets?|ignores?|overlooks?) ~ •
    if(?!.* then ) … •`,
  asks: String.raw`•[^.!]*\?`,
};

const [near, far] = [
  String.raw` (?:(?:(?!\b(?:is|are|was|equals?)\b)[^,.;:!?•=]|(?<=\d )=){0,80} )?`,
  '[,: ](?:[^.;:!?•]{0,120} )?',
];
const compiled = Object.entries(forms).map(([stance, lines]) => {
  const words = lines
    .trim()
    .replace(/\n\s*(?=[•^])/g, '|')
    .replace(/\n\s*/g, '|(?<![a-zа-я])');
  return [stance as Stance, new RegExp(words.replaceAll(' … ', near).replaceAll(' ~ ', far), 'iu')] as const;
});

/** Ends of sentences. A display may go on with one. */
export const sentenceEnds = /(?<=[.!?])\s+|(?<=[。！？।])|\n(?!\s{0,40}(?:\$\$?|\\[[(])\s{0,40}$)/;

/** Words that leave open whether a sentence is true. */
const open =
  /(?<!\p{L})(?:maybe|perhaps|(?:my|a|best) guess|possibly|probably|presumably|allegedly|(?:it|that|this) depends|peut-être|vielleicht|womöglich|quizás?|tal vez|talvez|forse|возможно|может быть|podría|podrían|könnte|könnten|pourrait|poderia|potrebbe)(?!\p{L})|也许|可能|或许|かもしれ|아마/iu;

/** What a text does with what stands between two places in it. A capital behind a tag begins a sentence. */
export function stanceAt(text: string, { at, end }: Pick<Candidate, 'at' | 'end'>): Stance {
  const [before = ''] = text
    .slice(Math.max(0, at - 300), at)
    .replace(/(?:<\w+>\s*)+$|^[\s\S]*<\/(?:think|reason|thought|analysis|explanation|answer)\w*>/g, '')
    .split(sentenceEnds)
    .slice(-1);
  const [rest = '', next = ''] = text
    .slice(end, end + 200)
    .replace(/^(?:\s*<\/\w+>)+(\s+(?=\p{Lu}))?/u, (_, gap?: string) => (gap === undefined ? '' : '. '))
    .trimEnd()
    .split(sentenceEnds)
    .filter((part, index) => index === 0 || part.trim() !== '');
  if (open.test(conclusion(`${before}•`) + rest)) return 'hedges';
  return stanceOf(
    `${conclusion(`${before}•`)}${rest}${/[.!?]$/.test(rest) || next === '' ? '' : '.'} ${next}`,
  );
}

/** What a sentence does with the values that stand at its `•`. The next sentence may follow it. */
export function stanceOf(sentence: string): Stance {
  const clause = sentence
    .replace(/[$*_`\\\s]+/g, ' ')
    .replaceAll('’', "'")
    .replace(/ ?\(• ?\)|\b(?:cannot|can't) be any\w* (?:but|except|other than) •/, ' •')
    .trim();
  return compiled.find(([, form]) => form.test(clause))?.[0] ?? 'asserts';
}

/** What stands before the conclusion of a sentence. */
const premise =
  /^.*(?:[,;]\s+(?:and\s+)?(?:so|thus|hence|therefore|but|then)\s|(?<!thing|where|one|body)\s(?:but|sondern|sino|mais|bensì)\s|\s[—–]\s)(?=.*[\d•∞])(?!.*\brepeats?\b)/s;

const side = String.raw`(?:(?!\b(?:wrong|incorrect|mistaken|false|answer|says?|thinks?|forgets?|ignores?|overlooks?)\b)(?:[^,;:.!?\n•]|(?<=\d)\.(?=\d))){1,80}`;
const condition = String.raw`^(?:(?:thus|so|hence|therefore|then|now),?\s|[^,.;:•]{1,30}:\s)?(?:assuming|if|because|since|given|as|when|while|although|though|after|before|of|out of|from|with|for|in)\b(?!.*\bwould\b)${side},\s`;
const difference = String.raw`,\s(?:(?:that|which) is\s)?[$\d.]+\s(?:[a-z]+\s)?(?:more|less|fewer|[a-z]{3,}er)\s+than\b${side}(?=[.!]?$)`;
const comparison =
  'which (?:is|are) (?:approximately|about|roughly|less|more|fewer|greater|larger|smaller|higher|lower|within|below|above|under|over)|which cannot be (?:simplified|reduced|factored)';
const reason = String.raw`,?\s(?:(?<=,\s)not|(?<=,\s)as(?=\s[\d$√(]\S*\s?[-+−*/×·÷=])|such that|for which|assuming|because|since|given|provided|when|rather than|instead of|compared (?:to|with)|(?:after|before)(?= \w+ing\b| \d)|attained|reached|achieved|${comparison})\b${side}(?=[.!]?$)`;
const restatement = String.raw`\s\((?:≈|(?!-?[\d$](?![^()]*\bvs\b)|[^()]*\b(?:no|I mean|wrong|correct|incorrect|actually|in fact|sorry)\b)(?=[^()]*[a-z]{2})(?=[^()]*\s))[^()]{1,80}\)(?=[.!?]?$)`;
const approach = String.raw`^(?:as|for|when)\s\$?[a-z]\s?(?:→|->|\\to|(?:approaches|tends to|goes to)\s)\s?[^\s,]+,?\s|,\sI\s(?:believe|think|suppose)(?=[.!]?$)|,?\sas\s\$?[a-z]\s?(?:→|->|\\(?:to|rightarrow)|(?:approaches|tends to|goes to)\s)[^,;:.]*(?=[.!?]?$)`;
/** What a sentence says beside its statement. */
const subordinate = new RegExp([condition, difference, approach, reason, restatement].join('|'), 'gi');

/** A sentence with spaces for all that is not its conclusion: premises, conditions, reasons, comparisons. */
export function conclusion(sentence: string): string {
  const blank = (part: string) => ' '.repeat(part.length);
  const concluded = sentence.replace(premise, blank);
  const stated = concluded.trimStart().replace(subordinate, blank).padStart(concluded.length);
  return /[\d•∞]/.test(stated) || !/[\d•∞]/.test(concluded) ? stated : concluded;
}

/** A writer who gives no answer, and one who ends with that. */
export const refusal =
  /\bI(?: am|['’]m)? (?:\w+ly |just |still )?(?:can(?:no|['’])t|unable to|refuse to|do(?: not|n['’]t)) (?:decide|determine|solve|answer|find|know|say|tell)\b/i;
export const gaveUp = new RegExp(
  String.raw`(?:${refusal.source}(?: (?:this|that|it)| (?:the|how|what|which|who|where|when|why|whether)\b[^.,!?\n]{0,60})?|\b(?:${[
    `(?:problem|question|exercise|puzzle|task|story|text) (?:does(?: not|n['’]t) (?:say|state|tell|specify|give|mention)|(?:says|states|gives|mentions) no)`,
    `I do(?: not|n['’]t) have (?:this|that|the|enough|any)|I (?:am giving|give|gave) up|(?:could|can)(?:not| not|n['’]t) (?:finish|solve|complete)`,
  ].join('|')})\b[^.!\n]*)[.!]?\s*$`,
  'i',
);

/** How a writer takes back what stands before, one form a line. */
const withdrawals = String.raw`
  (?<=[.!…] )(?:hmm,? )?no,? (?:wait[,:] )?(?=(?:\d[\d,.]*|[A-J])(?:[.!)]|$))
  oops|just kidding|scratch that|apologies|on second thoughts?|hold on(?=[,.:;!])|(?:actually|wait),? no(?=[,.:;!])|(?:correction|edit)(?=\s?:)
  (?:I )?(?:must |have to )?take (?:that|this|it) back|I (?:meant|was wrong|used (?:the|a) wrong|(?:made|see) (?:an?|my) (?:\w+ )?(?:mistake|error))
  (?:no longer (?:believe|trust|think)|(?:withdraw|retract|disregard|ignore)) (?:this|that|it|(?:the|my)(?: \w+)? (?:answer|box|result|solution|guess|claim)(?: of \S+)?)
  (?:the (?:above|previous)(?: \w+)?|my (?:previous|earlier|first) \w+) (?:is|was) (?:wrong|incorrect)|(?:this|that|it) can(?:no|['’])t be (?:right|correct)
  (?:actually|wait|no|hmm),? (?:that|this|it)(?: is|['’]s| was| isn['’]t) (?:wrong|incorrect|false|not right|right|not correct)`;
const retraction = new RegExp(String.raw`\b(?:${withdrawals.trim().replace(/\n\s*/g, '|')})\b`, 'gi');

/** Whether a text takes back what stands before it. */
export const takesBack = (text: string) => text.search(retraction) >= 0;

/** What follows the last words that take an answer back. */
export function withoutRetracted(text: string): string {
  let end = 0;
  for (const match of text.matchAll(retraction)) end = match.index + match[0].length;
  return end === 0 ? text : text.slice(end).replace(/^[\s,.:;!]+/, '');
}
