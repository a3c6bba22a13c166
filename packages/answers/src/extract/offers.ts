import { mathAnswersAgree } from '../equal/math-equivalence.ts';
import { onlyNumberIn, valueInWords } from '../equal/number-words.ts';
import { isUnit } from '../equal/units.ts';
import { isRestated } from './restated.ts';
import { isFormula } from './said.ts';

/** A statement that only offers other answers: "Or maybe 19.", "If not, 19." Without a word of doubt they are numbers, because all else may say the same. */
const otherAnswer =
  /^(?:<\/\w{1,20}>)?[\s"'.,;:!)\]}$*]*(?:or,? |(?:if not|else|failing that),? (?:then )?)?(?:(?:maybe|perhaps|possibly|alternatively)[,:]?(?: (?:it(?:['’]s| is)|the answer is))?|(?:it|the answer) (?:could|might|may)(?: also| well)? be|(?<=\b(?:or|if not|else|that),? (?:then )?)(?=(?:about |roughly )?[$*(]{0,4}-?\d)|(?<=^(?:<\/\w{1,20}>)?,? or )(?=\p{L}+[.!]?\s*$))[\s$*(]*(?:about |roughly )?(?<values>-?\d[\d.,/]*\s?%?(?:[$*]*,? or [$*]*-?\d[\d.,/]*%?)*|[A-J]|\p{L}+)[\s$*)]*(?:[.!?](?!\d)|\n|$)/iu;
const plainNumber = /^-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/;

/** Whether what follows an answer offers another one. A number that rounds to it is the same. */
export function isLeftOpen(rest: string, answer: string): boolean {
  if (isHedged(rest.slice(0, 300), answer)) return true;
  const { 0: statement, groups } = otherAnswer.exec(
    rest
      .slice(0, 1000)
      .replace(/\s{2,}/g, (space) => (space.includes('\n') ? '\n' : ' '))
      .slice(0, 100),
  ) ?? { 0: '' };
  const others = groups?.values?.split(/[$*]*,? or [$*]*/) ?? [];
  return others.some((other) => isAnother(other.replace(/[.,/]+$/, ''), answer, statement));
}

function isAnother(other: string, answer: string, statement: string): boolean {
  if (mathAnswersAgree(other, answer, { units: 'converted' })) return false;
  const [one, two] = [answer, other].map((text) =>
    plainNumber.test(text) ? text.replaceAll(',', '') : undefined,
  );
  // 1.000 for 1000.
  if (one !== undefined && /^\d{1,3}(?:\.\d{3})+$/.test(other) && other.replaceAll('.', '') === one)
    return false;
  if (one === undefined || two === undefined) {
    const isWord = /^\p{Lu}/u.test(other) || onlyNumberIn(other) !== undefined;
    const isOffered = /^\S*,? or /.test(statement);
    return (
      isWord && (isOffered || /\b(?:maybe|perhaps|possibly|alternatively|could|might|may)\b/i.test(statement))
    );
  }
  if (/\b(?:about|roughly)\b/i.test(statement))
    return Math.abs(Number(one) - Number(two)) > 0.05 * Math.abs(Number(one));
  const places = Math.min(...[one, two].map((text) => text.split('.')[1]?.length ?? 0));
  return Number(one).toFixed(places) !== Number(two).toFixed(places);
}

/** Markup, signs and up to three words between an answer and what is offered beside it. */
const signs = String.raw`(?:<\/?\w{1,12}>|\.(?!\s+\p{L})|[\s$*_\\)\]}"',;:…—–=>&|-])*`;
const between = String.raw`^(?!\W{0,5}(?:because|since)\b)(?![^\n]{0,40}\b(?:not|neither|nor|than|instead of)\s[$*]*[\dA-J])${signs}(?:[a-z]+ ){0,3}?[a-z]*${signs}[([{]?\s?(?:[\p{L}\d]+ ){0,3}?`;
const offering = String.raw`\b(?:or|maybe|perhaps|possibly|alternative(?:ly)?|otherwise|if (?:not|wrong)|second (?:choice|best)|unless|vs\.?|versus|guess|backup|fallback|(?:could|might|may)(?: also| well)? be)(?![\p{L}'’])[\s,:]*(?:(?:is|it|else|perhaps|maybe|even|simply|just|about|roughly|approximately|equivalently|the answer) ){0,3}`;
const one = String.raw`-?[$€£]?\d(?:[\d.,]*\d)?%?`;
const value = String.raw`(?=(?<whole>[^\n]{1,60}))(?<value>${one}(?:\s?[-+*/×·÷=]\s?${one})*)`;
const end = String.raw`(?:, (?:that is|perhaps|maybe|I (?:think|guess)))?[$*)\]}.!\s]*(?:\n|$)`;
/** `18 (or 20)`, `18 eggs, or maybe 20`, `18 (my other guess is 20)`: a word that offers, a few words behind an answer. */
const offered = new RegExp(
  String.raw`${between}${offering}(?<lead>[$*([{]*)(?:${value}(?![\d:])[*$]*\s?(?<unit>\p{L}*)|(?<word>[a-z]{2,}(?:-[a-z]+)?|\p{Lu}\p{L}*(?: \p{Lu}\p{L}*){0,3})${end})`,
  'u',
);
/** `18; 20`, `18 (20)`, `18 ± 2`, `18 (20 if it rains)`. */
const beside = new RegExp(
  String.raw`^(?!\s?\[\d\])(?:(?:[^\S\n]|[$*_\\"'])*(?:[,;|~&(){}[\]…±–—-]|\.\.\.|\+\/-|\b(?:and|to|also)\b))+[^\S\n]*[$*]*${value}(?:${end}| (?:if|unless|assuming|instead)\b)`,
);
/** `18 — no, 20`, `18. Actually, 20.` */
const corrected = new RegExp(
  String.raw`^(?:${signs}|\.\s+)(?:[Nn]o|[Aa]ctually|[Rr]ather|[Ss]orry|I mean|make (?:that|it))\b[\s,:.]*(?:(?:wait|no|actually|sorry|it|that|this|is|the|answer|should|be|it['’]s)[\s,:.]+){0,5}[$*({[]*${value}${end}`,
);
/** A last line that is another number alone. */
const below = new RegExp(String.raw`^[\s$*_\\)\]}.]*\n\s*[$*(]*${value}[$*).\s]*$`);

/** `Paris / Lyon`. */
const named = new RegExp(String.raw`^\s*[/|&]\s*(?<word>\p{Lu}\p{L}*(?: \p{Lu}\p{L}*){0,3})${end}`, 'u');

/** `x + 1 or x + 2`: what stands behind a word that offers, up to the end of the sentence. */
const formula =
  /^[\s$*_\\)\]}"',;:…—–-]*(?:\.\s+)?(?:(?<open>[([])\s?)?(?:[Oo]r|[Mm]aybe|[Pp]erhaps|[Pp]ossibly|[Aa]lternatively)\b[\s,:]*(?:(?:maybe|perhaps|also|equivalently|about|roughly) )?(?:\$|\\\()?\s*(?<inner>[^\n;$]{1,60}?)\s*(?<dollar>\$|\\\))?(?<close>[)\]])?[.!]?\s*(?:\n|$)/;

/** A number with nothing but a unit around it. */
const bare =
  /^(?:[$€£\s*]|\\\$)*(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?:[\s%$*.!]|\\[%$,;! ]|\\(?:text|mathrm)\s*\{[^{}]*\}|\^\\circ|(?<=\s)[a-z]+(?=\s|$))*$/;
/** How often one unit is in another. */
const ratios = [2, 3, 4, 7, 8, 12, 16, 24, 30, 52, 60, 365, 1440, 3600, 1.609, 2.205, 2.54, 3.281];
const counts = /^(?:pairs?|dozens?|couples?|per|each|every|a)$/;

/** Whether words or signs right behind an answer offer another one: a number, a name, or a choice. */
function isHedged(rest: string, answer: string): boolean {
  const near = rest.slice(0, 200);
  const own = bare.exec(answer)?.[1]?.replaceAll(',', '');
  const { word, unit = '', lead = '', ...found } = (offered.exec(near) ?? named.exec(near))?.groups ?? {};
  if (own === undefined) {
    const areNames = [word ?? '', answer].every((name) => /^\(?\p{Lu}/u.test(name));
    const isAside = word !== undefined && /^[\s*]*[([]\s?or\b/.test(near);
    if (areNames || isAside) return !areSame(word ?? '', answer);
    const { open, inner = '', dollar, close = '' } = formula.exec(near)?.groups ?? {};
    return isOtherFormula(open === undefined && dollar === undefined ? inner + close : inner, answer);
  }
  const counted = wordsBehind.exec(answer.replace(/[-\d.,]+/, ''))?.[1] ?? wordsBehind.exec(near)?.[1] ?? '';
  const said = [
    { value: found.value ?? (word && valueInWords(word)), whole: found.whole },
    ...[beside, below, corrected].map((form) => ({ ...form.exec(near)?.groups })),
  ];
  return said.some(({ value: other, whole }: Partial<Record<string, string>>, at) => {
    if (other === undefined || other.includes('%') !== answer.includes('%')) return false;
    // A calculation alone is a step or a check.
    if (at > 0 && /[-+*/×·÷].*=/.test(other)) return false;
    const sign =
      /^-?([$€£])/.exec(other)?.[1] ?? (/\$$/.test(lead) && !whole?.includes('$') ? '$' : undefined);
    const text = (whole ?? other).replace(/^[$€£]/, '');
    const isSame = isRestated({ number: own, words: counted }, text, at === 0 ? sign : undefined);
    if (isSame !== undefined) return !isSame;
    // What is below zero, in words.
    if (unit !== '' && Number(own) === -Number(other)) return false;
    const ofOther = at === 0 ? (sign ?? unit) : '';
    const isNamed = isUnit(ofOther) || counts.test(ofOther);
    const areNamed = ofOther !== '' && counted !== '' && !counted.startsWith(ofOther.slice(0, 3));
    if (isNamed || areNamed) {
      const isSameAmount = isConverted(Number(own), Number(other.replace(/[^\d.]/g, '')));
      if (isNamed || isSameAmount) return !isSameAmount;
    }
    return !/[-+*/×·÷=]/.test(other.slice(1))
      ? isAnother(other.replace(/^(-?)[$€£]/, '$1'), own, '')
      : !mathAnswersAgree(other.replace(/[$€£]/g, ''), own);
  });
}

/** Up to three words right behind a number, in the answer or behind it. */
const wordsBehind =
  /^(?:[\s$*)\]}]|\\(?:text|mathrm)\s*\{|\\[)\],;! ]|\^\\circ)*((?!(?:or|and|if)\b)[°\p{L}][\p{L}/²³]*(?: (?!or\b|and\b|if\b)\p{L}+){0,2})/u;

/** Whether a name or a reply says the same as an answer. */
function areSame(other: string, answer: string): boolean {
  if (reply.test(other) && reply.test(answer)) return isYes.test(other) === isYes.test(answer);
  return other.toLowerCase() === answer.toLowerCase();
}

const reply = /^(?:\\text\{)?(?:yes|no|true|false)\}?$/i;
const isYes = /yes|true/i;

/** Whether a formula, or a yes or no, has another value than an answer. What has a unit is not compared, and a decimal may be rounded. */
function isOtherFormula(other: string, answer: string): boolean {
  const isReply = reply.test(other);
  if (isReply && reply.test(answer)) return !areSame(other, answer);
  // What a choice stands for.
  if (/^[A-J]$/.test(answer) && !/^[A-J]$/.test(other)) return false;
  const hasUnit = /[a-z]{2}|[°%:]|\d\s+[a-z](?:\^\d|$)/i.test(other.replace(/\\(?!circ|text)[a-z]+/g, ''));
  const isShort = isReply || (!hasUnit && isFormula(other));
  if (!isShort || mathAnswersAgree(other, answer)) return false;
  return !(/^-?\d*\.\d+$/.test(other) && mathAnswersAgree(`${answer} \\approx ${other}`, other));
}

/** Whether one number may be the other one in another unit. */
function isConverted(a: number, b: number): boolean {
  const ratio = a > b ? a / b : b / a;
  return (
    [1, ...ratios].some((one) => Math.abs(ratio / one - 1) < 0.01) || Math.abs(Math.log10(ratio) % 1) < 1e-9
  );
}
