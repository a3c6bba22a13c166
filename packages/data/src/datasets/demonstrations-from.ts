import { abortSignal, type Message, parseOptions, type ToolSchema } from '@rlp/core';
import * as z from 'zod';
import { cellOf, type DatasetColumns, KnownColumns, rowError } from './columns.ts';
import { type Dataset, requireDataset } from './dataset.ts';
import type { DatasetEntry } from './dataset-entry.ts';
import { asMessages, messagesOf, promptOf, removeRow, textOrMessages, toolsOf } from './row-parts.ts';

/** A completion of a prompt, or the assistant's turns of a conversation, to be imitated. */
export type Demonstration =
  | { readonly prompt: string; readonly completion: string }
  | {
      readonly messages: readonly Message[];
      /** Tools that the assistant was offered. The chat template shows them. */
      readonly tools?: readonly ToolSchema[] | undefined;
    };

/** Schema of the options of {@link demonstrationsFrom} without the signal. */
const schema = z.strictObject({
  /** `'messages'` makes a conversation of a prompt and a completion, for chat models. Default `'as-given'`. */
  form: z.enum(['as-given', 'messages']).default('as-given'),
  /** Ends the reading with its reason. Default: no signal. */
  signal: abortSignal.optional(),
});

/** Options of {@link demonstrationsFrom}. */
export interface DemonstrationsFromOptions extends z.input<typeof schema> {}

/**
 * Reads the rows of a dataset as demonstrations, one at a time.
 *
 * A row has messages, or a prompt and an answer, or a text alone, which is imitated as a whole. A prompt or an answer of messages makes
 * a conversation, and so do `tools`. Prompt and completion are taken as they are: no separator is added.
 *
 * @throws FormatError naming the row without them.
 */
export async function* demonstrationsFrom(
  dataset: Dataset<object>,
  options: DemonstrationsFromOptions = {},
): AsyncGenerator<Demonstration, void, undefined> {
  const { form, signal } = parseOptions('demonstrationsFrom', schema, options, 'DemonstrationsFromOptions');
  const known = new KnownColumns();
  requireDataset('demonstrationsFrom', dataset);
  for await (const batch of dataset.batches({ signal })) {
    for (const entry of batch) yield demonstrationOf(entry, known.of(entry), form);
  }
}

function demonstrationOf(
  entry: DatasetEntry<object>,
  columns: DatasetColumns,
  form: 'as-given' | 'messages',
): Demonstration {
  const { messages, prompt, answer } = columns;
  const tools = toolsOf(entry, columns);
  const isPair = prompt !== undefined && answer !== undefined;
  if (messages !== undefined && !(isPair && entry.origin.fields?.prompt !== undefined)) {
    return { messages: messagesOf(cellOf(entry.row, messages), entry, messages), ...(tools && { tools }) };
  }
  if (isPair) {
    const pair = pairOf(promptOf(entry, columns)!, completionOf(entry, answer), tools ? 'messages' : form);
    return 'messages' in pair ? { ...pair, ...(tools && { tools }) } : pair;
  }
  if (prompt === 'text') return { prompt: '', completion: completionOf(entry, prompt) as string };
  const has = prompt === undefined ? 'no prompt' : `the prompt in ${prompt} and no answer`;
  throw rowError(
    entry,
    `messages, or a prompt and an answer (answer, completion, output, response or target), got ${has}`,
    "name them, as in fields: { prompt: 'query', answer: 'reply' }",
  );
}

function completionOf(entry: DatasetEntry<object>, column: string): string | readonly Message[] {
  const completion = textOrMessages(entry, column);
  if (completion.length > 0) return completion;
  throw rowError(entry, `text to imitate in the column ${column}, got empty text`, removeRow);
}

function pairOf(
  prompt: string | readonly Message[],
  completion: string | readonly Message[],
  form: 'as-given' | 'messages',
): Demonstration {
  if (form === 'as-given' && typeof prompt === 'string' && typeof completion === 'string') {
    return { prompt, completion };
  }
  return { messages: [...asMessages(prompt, 'user'), ...asMessages(completion, 'assistant')] };
}
