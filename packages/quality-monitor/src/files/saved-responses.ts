import { FormatError } from '@rlp/core';
import { z } from 'zod';

/** A response that was saved, with what it was rewarded. */
export interface SavedResponse {
  readonly response: string;
  /** By component. */
  readonly rewards: Readonly<Record<string, number | null>>;
}

const rewards = z.record(z.string(), z.number().nullable());

/** A plain record; a record with one reward; a trajectory with its score, as rollouts save it. */
const lineSchema = z.union([
  z.object({ response: z.string(), rewards }),
  z.object({
    trajectory: z.object({ response: z.string() }),
    reward: z.number().nullable(),
    components: rewards,
  }),
  z.object({ response: z.string(), reward: z.number().nullable().optional() }),
]);

/**
 * Reads saved responses from JSON Lines; a last line that a crash cut short is left out.
 *
 * @param path - Named in errors.
 * @throws FormatError naming the line that is something else.
 */
export function readSavedResponses(text: string, path: string): SavedResponse[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return [];
    const parsed = lineSchema.safeParse(parseJson(line));
    if (parsed.success) return [savedResponse(parsed.data)];
    if (at === lines.length - 1) return [];
    throw new FormatError(
      `${path}, line ${at + 1}: expected {"response": "…", "rewards": {"name": number}} or a scored trajectory`,
    );
  });
}

function savedResponse(line: z.output<typeof lineSchema>): SavedResponse {
  if ('trajectory' in line) {
    return { response: line.trajectory.response, rewards: { ...line.components, total: line.reward } };
  }
  if ('rewards' in line) return line;
  return { response: line.response, rewards: line.reward === undefined ? {} : { reward: line.reward } };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
