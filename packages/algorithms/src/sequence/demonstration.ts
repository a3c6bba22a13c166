import {
  ArgumentError,
  type ChatRenderer,
  requireArguments,
  requireFields,
  type SequenceStep,
  type Tokenizer,
  type TokenSequence,
  tokenSequences,
} from '@rlp/core';
import type { Demonstration } from '@rlp/data';

type Conversation = Extract<Demonstration, { readonly messages: unknown }>;

/** What turns demonstrations into tokens. */
export interface DemonstrationEncoding {
  readonly tokenizer: Tokenizer;
  /** Needed for conversations. */
  readonly chat?: ChatRenderer | undefined;
  /**
   * Whether a plain completion ends with the tokenizer's first end token, which is trained. Default `'add'`. Chat
   * templates end their turns by themselves.
   */
  readonly endToken?: 'add' | 'none' | undefined;
}

/**
 * A demonstration as training sequences, with mask 1 on what the policy is to say.
 *
 * Prompt and completion are encoded separately. No merge crosses the border, so sampling from the prompt sees the same tokens.
 * A conversation is rendered up to each assistant turn. It is one sequence if the template only extends, and several if it
 * rewrites history.
 *
 * @throws ArgumentError for an empty completion, a conversation without assistant turn, messages without `chat`, or a
 *   template whose turns do not continue its own generation prompt.
 */
export function demonstrationSequences(
  demonstration: Demonstration,
  encoding: DemonstrationEncoding,
): TokenSequence[] {
  requireArguments('demonstrationSequences', { demonstration: 'object' }, demonstration);
  requireFields('demonstrationSequences', { tokenizer: 'object' }, encoding);
  if ('maxLength' in encoding) {
    throw new ArgumentError(
      'demonstrationSequences: expected no maxLength, because it is an option of the run: pass it to runSftTraining',
    );
  }
  requireFields(
    'demonstrationSequences: tokenizer',
    { encode: 'function', eosIds: 'list' },
    encoding.tokenizer,
  );
  if ('messages' in demonstration) return tokenSequences(assistantTurns(demonstration, encoding));
  if (typeof demonstration.prompt !== 'string' || typeof demonstration.completion !== 'string') {
    throw new ArgumentError(
      `demonstration: expected prompt and completion, or messages; got an object with ${Object.keys(demonstration)}`,
    );
  }
  const { tokenizer, endToken = 'add' } = encoding;
  const end = endToken === 'add' ? tokenizer.eosIds.slice(0, 1) : [];
  const tokens = [...tokenizer.encode(demonstration.completion, { specialTokens: 'none' }), ...end];
  if (tokens.length === 0)
    throw new ArgumentError(
      'demonstration: the completion is empty, nothing to imitate; leave the example out',
    );
  return tokenSequences([{ promptTokens: tokenizer.encode(demonstration.prompt), tokens }]);
}

function assistantTurns({ messages, tools }: Conversation, { chat }: DemonstrationEncoding): SequenceStep[] {
  if (chat === undefined) {
    throw new ArgumentError('demonstration: a conversation needs a chat renderer: pass `chat`');
  }
  const turns = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
  if (turns.length === 0) {
    throw new ArgumentError(
      'demonstration: the conversation holds no assistant turn, nothing to imitate; leave the example out',
    );
  }
  return turns.map((index) => {
    const shown = tools && { tools };
    const promptTokens = chat.render(messages.slice(0, index), { ...shown });
    const whole = chat.render(messages.slice(0, index + 1), { ...shown, generationPrompt: 'none' });
    if (promptTokens.some((token, at) => whole[at] !== token)) {
      throw new ArgumentError(
        `demonstration: the chat template does not render message ${index} as a continuation of its own ` +
          'generation prompt, so its tokens cannot be told apart; use a template that does',
      );
    }
    return { promptTokens, tokens: whole.slice(promptTokens.length) };
  });
}
