import type { Preference } from '@rlp/algorithms/preference';
import { FormatError, type Message, messageSchema } from '@rlp/core';
import * as z from 'zod';
import { placeOf, type RunRow } from './rows.ts';

const answer = z.union([z.string().min(1), z.array(messageSchema as z.ZodType<Message>).min(1)]);
const pairSchema = z.object({ chosen: answer, rejected: answer, margin: z.number().optional() });

/** The preference that a row holds. @throws FormatError for a row without two answers. */
export function preferenceOf(row: RunRow): Preference {
  const { prompt, metadata, tools } = row;
  const { data, error } = pairSchema.safeParse(metadata);
  if (data !== undefined) return { prompt, ...data, ...(tools && { tools }) };
  if (!('chosen' in metadata || 'rejected' in metadata)) {
    const given: Readonly<Record<string, unknown>> = metadata;
    // `answer` is added to each row, from whatever column answers.
    const columns = Object.keys(given).filter((name) => name !== 'answer' && given[name] !== undefined);
    throw new FormatError(
      `trainRun: ${placeOf(row)}: expected columns chosen and rejected, which preferences are read from, got ${['the prompt', ...columns].join(', ')}; ` +
        `name them under data.fields, or choose another mode${'label' in given ? ". preference.loss: 'kto' learns from answers with labels" : ''}`,
    );
  }
  const at = error.issues[0]!.path.join('.');
  throw new FormatError(
    `trainRun: ${placeOf(row)}: expected a preferred answer in chosen and another one in rejected, as text or messages; correct ${at}`,
  );
}
