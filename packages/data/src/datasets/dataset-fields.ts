import type { NamedSchema } from '@rlp/core';
import * as z from 'zod';

const column = z.string().min(1).optional();

const schema = z.strictObject({
  /** Column of the id. Default `id`, `uuid`, `task_id` or `question_id`. A row without an id gets its number. */
  id: column,
  /** Column of the prompt: text or messages. Default `prompt`, `question`, `instruction` (with `input`), `input` or `text`. */
  prompt: column,
  /** Column of the conversation. Default `messages`, `conversations` or `conversation`. */
  messages: column,
  /** Column of the tools that the assistant may call: a list, or its JSON. The chat template shows them. Default `tools`. */
  tools: column,
  /** Column of the answer. Default `answer`, `completion`, `output`, `response`, `target` or `label`. */
  answer: column,
  /** Column of the preferred answer. Default `chosen`. */
  chosen: column,
  /** Column of the other answer. Default `rejected`. */
  rejected: column,
  /** Column that says whether an answer is good: `true` or `false`. Default `label`. */
  label: column,
  /** Column of an answer's score. Default `score`. */
  score: column,
});

/** Columns of a dataset by role. A dot leads into an object or a list, as in `answers.text.0`. */
export interface DatasetFields extends z.input<typeof schema> {}

/** {@link DatasetFields} with every default filled in. */
export interface ResolvedDatasetFields extends z.output<typeof schema> {}

/** Schema of {@link DatasetFields}. */
export const datasetFieldsSchema: NamedSchema<DatasetFields, ResolvedDatasetFields> = schema;

/** Role of a column. */
export type DatasetRole = keyof DatasetFields;
