import { ArgumentError, messageOf, plural } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { placeOf, type RunRow } from './data/rows.ts';
import { firstPrompt, type RunEnvironment } from './environment.ts';

/** How rows are asked. */
interface Asking {
  readonly environment: RunEnvironment;
  readonly model: Pick<LanguageModel, 'tokenizer' | 'chat'>;
  /** Tokens of a prompt and its answer together. */
  readonly context: number;
}

/**
 * Checks that a question of the rows can be asked, before anything is trained. Other rows may fail: their episodes are counted.
 *
 * @throws ArgumentError naming the first row and what is wrong with it.
 */
export function requirePrompts(rows: readonly RunRow[], asking: Asking): void {
  const [first] = rows;
  if (first === undefined || rows.some((row) => problemOf(row, asking) === undefined)) return;
  throw new ArgumentError(
    `data: expected prompts that can be asked, got none among ${plural(rows.length, 'row')}; the first, ${placeOf(first)}: ${problemOf(first, asking)}`,
  );
}

function problemOf(row: RunRow, { environment, model, context }: Asking): string | undefined {
  try {
    const { length } = firstPrompt(row, environment, model);
    if (length < context) return undefined;
    return `it has ${plural(length, 'token')}, and a context of ${context} leaves no room for an answer; shorten the prompts, or choose a model or a sampler.contextLength that holds more`;
  } catch (error) {
    return messageOf(error);
  }
}
