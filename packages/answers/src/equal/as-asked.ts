import { promptMessages, type Task } from '@rlp/core';
import { type MathAgreementOptions, mathAnswersAgree } from './math-equivalence.ts';

/** A question for an order. A bare list of answers then keeps it. */
const inOrder = new RegExp(
  [
    String.raw`\bin (?!any |no |some |either )(?:\w+ )?order\b(?! (?:to|that)\b)|\bfirst \w+ terms\b`,
    String.raw`\bfrom (?:the )?(?:small|low|larg|great|high|short|long|old|young|earli|near|clos|lea)\w*st to\b`,
    String.raw`(?:^|[.?!:]\s*|\b(?:and|then|please|to)\s)(?:arrange|order|sort|rank)\b[^.?!]*\b(?:by|from|(?:a|de)scending|(?:in|de)creasing)\b`,
  ].join('|'),
  'i',
);
/** A number in a base: `1011_2`. */
const numeral = /^([\dA-F]+)_\{?\d{1,2}\}?$/;
const namesBase = /\b(?:base|binary|octal|hexadecimal)\b/i;
const isList = /^[^()[\]{}]*[,<>][^()[\]{}]*$/;

/** What the user of a prompt said last. A task without a prompt asks nothing. */
const questionOf = (prompt: Task['prompt'] | undefined) =>
  promptMessages(prompt ?? '').findLast(({ role }) => role === 'user')?.content ?? '';

/** Whether two answers mean the same, in the order and the base that their question asks for. */
export function agreeAsAsked(
  given: string,
  expected: string,
  prompt: Task['prompt'],
  options: MathAgreementOptions = {},
): boolean {
  const question = questionOf(prompt);
  // The question names the base.
  if (namesBase.test(question) && numeral.exec(expected)?.[1] === given.trim()) return true;
  if (!inOrder.test(question) || !isList.test(expected)) return mathAnswersAgree(given, expected, options);
  const [own, right] = [given, expected].map(
    (list) =>
      `(${list.replace(/\\[lg]t(?![a-z])|[<>]|,?\s\band\b/g, ',').replace(/\\?[a-z]+(?:_\{?\d+\}?|[₀-₉]+)\s*=\s*/gi, '')})`,
  );
  return mathAnswersAgree(own!, right!, options);
}
