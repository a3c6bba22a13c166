import type { Message } from '@rlp/core';

/** A row of data: a task, and what to imitate. */
export interface RunRow {
  readonly id: string;
  readonly prompt: string | readonly Message[];
  /** What to imitate. Absent if the row has no such column. */
  readonly completion?: string | undefined;
  /** All columns but the prompt. `answer` is the right answer, if there is one. */
  readonly metadata: { readonly answer?: string | undefined };
}
