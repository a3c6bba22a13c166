import {
  agreeAsAsked,
  finalAnswer,
  type MathAgreementOptions,
  mathAgreementSchema,
  numberIn,
} from '@rlp/answers';
import { parseOptions, promptMessages, type RewardFunction, type Task } from '@rlp/core';
import { type AnswerSources, referenceError, requireReference, withReader } from './reference.ts';

/**
 * Options of {@link mathAnswer}. `extract` reads the last box by default, else the number after `####`, else what follows "the answer is", else the
 * only formula or number of the last sentence, or a response that is a formula.
 */
export interface MathAnswerOptions<Metadata> extends MathAgreementOptions, AnswerSources<Metadata> {}

const anywhere = /* @__PURE__ */ finalAnswer({ from: ['boxed', 'hash', 'phrase', 'sentence'] });

/**
 * 1 if the final answer of a response means the same as the right one by {@link mathAnswersAgree}, in the order that the
 * prompt asks for, else 0. No answer: 0.
 *
 * A task without a reference answer is an error (and so unscorable), never a wrong answer.
 */
export function mathAnswer<Metadata>(options: MathAnswerOptions<Metadata>): RewardFunction<Metadata> {
  const { reference, extract = anywhere, ...rest } = withReader('mathAnswer', options);
  const agreement = parseOptions('mathAnswer', mathAgreementSchema, rest);
  return ({ task, response }) => {
    const expected = requireReference('mathAnswer', task.id, reference(task.metadata));
    const given = extract(response);
    return given !== undefined && agreeAsAsked(given, expected, questionOf(task), agreement) ? 1 : 0;
  };
}

/**
 * Options of {@link gsm8kAnswer}. `reference` is a number, or a GSM8K solution that ends in `#### number`. `extract` reads after `####`, in
 * the last box, after "the answer is", or the last number by default.
 */
export interface Gsm8kAnswerOptions<Metadata> extends AnswerSources<Metadata> {}

const hashOnly = /* @__PURE__ */ finalAnswer({ from: ['hash'] });
const anyNumber = /* @__PURE__ */ finalAnswer({ from: ['hash', 'boxed', 'phrase', 'number'] });

/**
 * 1 if the final number of a response equals the right one exactly (`18`, `18.0`, `$18`, `1,800`), else 0. No number: 0.
 *
 * For the strict reading of the data set's authors pass `extract: finalAnswer({ from: ['hash'] })`.
 *
 * A task without a reference number is an error (and so unscorable), never a wrong answer.
 *
 * @see Cobbe et al. 2021, https://arxiv.org/abs/2110.14168
 */
export function gsm8kAnswer<Metadata>(options: Gsm8kAnswerOptions<Metadata>): RewardFunction<Metadata> {
  const { reference, extract = anyNumber } = withReader('gsm8kAnswer', options);
  return ({ task, response }) => {
    const answer = requireReference('gsm8kAnswer', task.id, reference(task.metadata));
    const expected = numberIn(hashOnly(answer) ?? answer);
    if (expected === undefined) throw referenceError('gsm8kAnswer', task.id, 'a number', answer);
    const answered = extract(response);
    const given = answered === undefined ? undefined : numberIn(answered);
    return given?.equals(expected) === true ? 1 : 0;
  };
}

/** What the user of a task asks last. A task without a prompt asks nothing. */
function questionOf({ prompt }: { readonly prompt?: Task['prompt'] }): string {
  return promptMessages(prompt ?? '').findLast(({ role }) => role === 'user')?.content ?? '';
}
