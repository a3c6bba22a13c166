import { tool } from '@rlp/env';
import * as z from 'zod';

/** The value of a sum such as `17+5`. @throws if it is none. */
export function sumOf(text: string): number {
  const numbers = text.split('+').map((part) => part.trim());
  if (!numbers.every((number) => /^\d+$/.test(number)))
    throw new Error(`expected a sum such as 17+5, got ${text}`);
  return numbers.reduce((total, number) => total + Number(number), 0);
}

/** A tool that the model may call. What it throws is told to the model. */
export const calculator = tool({
  name: 'calculator',
  description: 'Adds whole numbers.',
  parameters: z.object({ sum: z.string().describe('Such as 17+5') }),
  execute: ({ sum }) => sumOf(sum),
});
