import { tagName } from '@rlp/answers';
import { whiteSpaceTable } from '@rlp/answers/text';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { occurrencesOf } from '../../shared/text.ts';

/** Schema of {@link ReasoningTags}. */
export const reasoningTagsSchema = z.strictObject({
  /** Tag of the reasoning. Default `'reasoning'`. */
  reasoning: tagName.default('reasoning'),
  /** Tag of the answer. Default `'answer'`. */
  answer: tagName.default('answer'),
});

/** Tags of a response with reasoning and an answer. */
export interface ReasoningTags extends z.input<typeof reasoningTagsSchema> {}

/** The answer of a response in the layout `<reasoning>…</reasoning> … <answer>…</answer>`, untrimmed. */
export function answerInLayout(
  text: string,
  { reasoning, answer }: z.output<typeof reasoningTagsSchema>,
): string | undefined {
  const begin = beginningOfLayout(text, `<${reasoning}>`);
  if (begin === undefined) return;
  const reasoned = text.indexOf(`</${reasoning}>`, begin + reasoning.length + 3);
  const opened = reasoned < 0 ? -1 : text.indexOf(`<${answer}>`, reasoned);
  if (opened < 0) return;
  const start = opened + answer.length + 2;
  const closing = `</${answer}>`;
  for (let end = text.indexOf(closing, start + 1); end >= 0; end = text.indexOf(closing, end + 1)) {
    if (endsLine(text, end + closing.length)) return text.slice(start, end);
  }
  return;
}

/** Where the opening tag first stands with nothing but white space before it on its line. */
function beginningOfLayout(text: string, opening: string): number | undefined {
  for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) {
    let before = at - 1;
    while (before >= 0 && text[before] !== '\n' && isSpace(text, before)) before -= 1;
    if (before < 0 || text[before] === '\n') return at;
  }
  return;
}

function endsLine(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && text[at] !== '\n' && isSpace(text, at)) at += 1;
  return at === text.length || text[at] === '\n';
}

function isSpace(text: string, at: number): boolean {
  return whiteSpaceTable()[text.charCodeAt(at)] === 1;
}

const exactSchema = reasoningTagsSchema.extend({
  /** Reward of a match. Default 3. */
  reward: z.number().default(3),
});

/** Options of {@link matchFormatExactly}. */
export interface MatchFormatExactlyOptions extends z.input<typeof exactSchema> {}

/**
 * 3 if the response has the layout `<reasoning>…</reasoning> … <answer>…</answer>`, both filled, each beginning and end alone on
 * its line but for white space. Else 0.
 */
export function matchFormatExactly<Metadata = unknown>(
  options: MatchFormatExactlyOptions = {},
): RewardFunction<Metadata> {
  const { reward, ...names } = parseOptions('matchFormatExactly', exactSchema, options);
  return ({ response }) => (answerInLayout(response, names) === undefined ? 0 : reward);
}

const approximateSchema = reasoningTagsSchema.extend({
  /** Reward that each condition adds, or costs if it does not hold. Default 0.5. */
  step: z.number().default(0.5),
});

/** Options of {@link matchFormatApproximately}. */
export interface MatchFormatApproximatelyOptions extends z.input<typeof approximateSchema> {}

/**
 * From −2.5 to 2.5: plus or minus 0.5 for each of five conditions: `<reasoning>` once, at the very beginning, `</reasoning>`
 * once, `<answer>` once, `</answer>` once.
 */
export function matchFormatApproximately<Metadata = unknown>(
  options: MatchFormatApproximatelyOptions = {},
): RewardFunction<Metadata> {
  const { step, reasoning, answer } = parseOptions('matchFormatApproximately', approximateSchema, options);
  return ({ response }) => {
    const tags = [`<${reasoning}>`, `</${reasoning}>`, `<${answer}>`, `</${answer}>`];
    const occurOnce = tags.map((tag) => occurrencesOf(response, tag) === 1);
    const conditions = [response.startsWith(tags[0]!), ...occurOnce];
    return conditions.reduce((sum, holds) => sum + (holds ? step : -step), 0);
  };
}
