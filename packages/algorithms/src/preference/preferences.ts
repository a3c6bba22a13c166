import {
  ArgumentError,
  described,
  type Message,
  requireArguments,
  requireFields,
  type TokenSequence,
} from '@rlp/core';
import type { PreferencePair, RatedAnswer } from '@rlp/data';
import { type DemonstrationEncoding, demonstrationSequences } from '../sequence/demonstration.ts';

/** A sequence with mask 1 on the completion that is judged. */
export interface JudgedSequence extends Pick<TokenSequence, 'tokens' | 'mask'> {}

/** Two completions of one prompt, the first preferred. */
export interface JudgedPair {
  /** The preferred completion. */
  readonly chosen: JudgedSequence;
  readonly rejected: JudgedSequence;
  /** How much better `chosen` is. Reward models subtract it from the difference of the rewards. Default 0. */
  readonly margin?: number | undefined;
}

/** A completion that somebody liked or disliked. */
export interface LabelledSequence {
  readonly sequence: JudgedSequence;
  readonly label: 'desirable' | 'undesirable';
}

/** A preference as text or as messages, for instance a row that `preferencesFrom` of `@rlp/data` gives. */
export interface Preference extends PreferencePair {
  /** How much better `chosen` is. See {@link JudgedPair}. */
  readonly margin?: number | undefined;
}

type Text = PreferencePair['chosen'];

const preferenceFields = { margin: 'number?', prompt: 'given', chosen: 'given', rejected: 'given' } as const;

/**
 * A preference as two training sequences.
 *
 * Plain completions end with the tokenizer's end token, and conversations as the chat template ends them. If the template rewrites
 * history, only the last turn of an answer counts.
 *
 * @throws ArgumentError for equal or empty completions, or messages without `chat`.
 */
export function judgedPair(inputs: Preference, encoding: DemonstrationEncoding): JudgedPair {
  requireFields('judgedPair', preferenceFields, inputs);
  const { margin, ...preference } = inputs;
  requireFields('judgedPair', { tokenizer: 'object' }, encoding);
  const chosen = sequenceOf('judgedPair', preference, preference.chosen, encoding);
  const rejected = sequenceOf('judgedPair', preference, preference.rejected, encoding);
  if (chosen.tokens.join() === rejected.tokens.join()) {
    throw new ArgumentError('judgedPair: chosen and rejected are equal; leave the pair out');
  }
  return { chosen, rejected, ...(margin !== undefined && { margin }) };
}

/** An answer that somebody liked (`rating: true`) or disliked as a training sequence. Answers end as those of {@link judgedPair}. */
export function labelledSequence(
  inputs: RatedAnswer & Pick<Preference, 'tools'> & { readonly rating: boolean },
  encoding: DemonstrationEncoding,
): LabelledSequence {
  if (typeof inputs?.rating !== 'boolean') {
    throw new ArgumentError(
      `labelledSequence: expected rating to be true or false, got ${described(inputs?.rating)}`,
    );
  }
  requireFields('labelledSequence', { tokenizer: 'object' }, encoding);
  const sequence = sequenceOf('labelledSequence', inputs, inputs.completion, encoding);
  return { sequence, label: inputs.rating ? 'desirable' : 'undesirable' };
}

function sequenceOf(
  owner: string,
  { prompt, tools }: Pick<Preference, 'prompt' | 'tools'>,
  answer: Text,
  encoding: DemonstrationEncoding,
): JudgedSequence {
  if (typeof prompt === 'string' && typeof answer === 'string') {
    return demonstrationSequences({ prompt, completion: answer }, encoding)[0]!;
  }
  const before: readonly Message[] =
    typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt;
  const after: readonly Message[] =
    typeof answer === 'string' ? [{ role: 'assistant', content: answer }] : answer;
  requireArguments(owner, { prompt: 'objects', answer: 'objects' }, before, after);
  if (after.length === 0) throw new ArgumentError(`${owner}: an answer has no message; leave the row out`);
  const sequences = demonstrationSequences({ messages: [...before, ...after], tools }, encoding);
  return withoutPromptTurns(sequences.at(-1)!, { messages: before, tools }, encoding);
}

/** Assistant turns of the prompt are not part of the preference. */
function withoutPromptTurns(
  { tokens, mask }: JudgedSequence,
  { messages, tools }: { readonly messages: readonly Message[]; readonly tools: Preference['tools'] },
  { chat }: DemonstrationEncoding,
): JudgedSequence {
  const options = { generationPrompt: 'none', ...(tools && { tools }) } as const;
  const length = messages.length === 0 ? 0 : chat!.render(messages, options).length;
  return { tokens, mask: Uint8Array.from(mask, (value, index) => (index < length ? 0 : value)) };
}
