import { type Message, type ToolCall, type ToolSchema, toolCallSchema, toolListSchema } from '@rlp/core';
import * as z from 'zod';

/** A row of data: a task, and what to imitate. */
export interface RunRow {
  readonly id: string;
  readonly prompt: string | readonly Message[];
  /** What to imitate. Absent if the row has no such column. */
  readonly completion?: string | undefined;
  /** Whether the prompt is the text of a corpus, which is imitated as a whole. */
  readonly isCorpus?: boolean | undefined;
  /** Calls of tools that are imitated after the completion. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** Tools that the assistant was offered in what is imitated. */
  readonly tools?: readonly ToolSchema[] | undefined;
  /** All columns but the prompt. `answer` is the right answer, if there is one. */
  readonly metadata: { readonly answer?: string | undefined };
  /** File, folder or name of the hub that the row is from. Absent for rows that were made. */
  readonly source?: string | undefined;
}

/** Where a row is, for errors: `train.jsonl, row 7`. */
export function placeOf({ source, id }: Pick<RunRow, 'source' | 'id'>): string {
  return `${source === undefined ? '' : `${source}, `}row ${id}`;
}

const callsSchema = z.array(toolCallSchema).min(1);

/** What a task's metadata say of tools: those that were offered, and the calls in its answer. */
export function toolsIn(metadata: unknown): Pick<RunRow, 'tools' | 'toolCalls'> {
  const { tools, toolCalls } = (metadata ?? {}) as { readonly tools?: unknown; readonly toolCalls?: unknown };
  const offered = toolListSchema.safeParse(tools).data;
  const calls = callsSchema.safeParse(toolCalls).data;
  return { ...(offered && { tools: offered }), ...(calls && { toolCalls: calls }) };
}
