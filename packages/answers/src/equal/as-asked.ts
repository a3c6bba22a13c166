import { requireArguments } from '@rlp/core';
import { type MathAgreementOptions, mathAnswersAgree } from './math-equivalence.ts';

/** A question for an order. A bare list of answers then keeps it. An order of what a question is about is none. */
const inOrder = new RegExp(
  [
    String.raw`\b(?:list|write|give|name|state|enter|put|place|express|find|report|return|what|which|who|arrange|sort|answers?)\b[^.?!]{0,200}\bin (?:(?:(?:a|de)scending|(?:in|de)creasing|alphabetical|chronological|numerical|reverse) order\b|order(?=[.,?!]|$))`,
    String.raw`\b(?:what are|list|write|find|give|state) (?:the )?first \w+ terms\b`,
    String.raw`\bfrom (?:the )?(?:small|low|light|larg|great|high|short|long|old|young|earli|near|clos|lea)\w*st to\b`,
    String.raw`(?:^|[.?!:]\s?|\b(?:and|then|please|to)\s)(?:arrange|order|sort|rank)\b[^.?!]{0,200}\b(?:by|from|(?:a|de)scending|(?:in|de)creasing)\b`,
  ].join('|'),
  'i',
);
const falling = /\b(?:descend|decreas|reverse|(?:larg|great|high|long|old|heav)\w*st to)/i;
/** A number in a base: `1011_2`. */
const numeral = /^([\dA-F]+)_\{?\d{1,2}\}?$/;
const namesBase = /\b(?:base|binary|octal|hexadecimal)\b/i;
const isList = /^[^()[\]{}<>=]*,[^()[\]{}<>=]*$/;
/** What a prompt of several examples has before its question. */
const examples = /^[\s\S]*\b(?:A|[Aa]nswer|[Ss]olution):[ \t]?(?=\S)/;

/**
 * Whether two answers mean the same, in the order and the base that their question asks for.
 *
 * @param question - What the task asks. Examples before the question, up to "Answer: …", are left out.
 * @throws ArgumentError for anything that is not text.
 */
export function agreeAsAsked(
  given: string,
  expected: string,
  question: string,
  options: MathAgreementOptions = {},
): boolean {
  const texts = { given: 'text', expected: 'text', question: 'text' } as const;
  requireArguments('agreeAsAsked', texts, given, expected, question);
  const digits = numeral.exec(expected)?.[1];
  const isListed = isList.test(expected);
  // Most answers are neither, and a prompt may be long.
  const asked = isListed || digits !== undefined ? question.replace(examples, '') : '';
  if (digits === given.trim() && namesBase.test(asked)) return true;
  const wrongWay = falling.test(asked) ? /<|\\lt(?![a-z])/ : />|\\gt(?![a-z])/;
  if (!isListed || !inOrder.test(asked) || wrongWay.test(given))
    return mathAnswersAgree(given, expected, options);
  const list = given
    .replace(/^\\?\{(.*?)\\?\}$/, '$1')
    .replace(/\\[lg]t(?![a-z])|[<>]|(?:,\s?|\s)(?:\\text\s?\{\s?and\s?\}|and\b)/g, ',')
    .replace(/\\?[a-z]+(?:_\{?\d+\}?|[₀-₉]+)\s?=\s?/gi, '');
  return mathAnswersAgree(`(${list})`, `(${expected.replace(/,?\sand\b/g, ',')})`, options);
}
