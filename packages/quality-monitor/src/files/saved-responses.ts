import { FormatError, promptText } from '@rlp/core';
import { parseJsonLines } from '@rlp/data';
import * as z from 'zod';

/** A saved response with its rewards. */
export interface SavedResponse {
  readonly response: string;
  /** By component. */
  readonly rewards: Readonly<Record<string, number | null>>;
  /** The prompt, if it was saved. */
  readonly prompt?: string | undefined;
}

const rewards = z.record(z.string(), z.number().nullable());

/** An assistant turn that only calls tools has `null`. */
const message = z.object({
  content: z
    .string()
    .nullable()
    .transform((content) => content ?? ''),
});

/** A scored trajectory, as rollouts save it. */
const trajectoryLine = z.object({
  trajectory: z.object({
    response: z.string(),
    task: z
      .object({ prompt: z.union([z.string(), z.array(message)], 'expected text or a list of messages') })
      .optional(),
  }),
  reward: z.number().nullable(),
  components: rewards,
});

const rewardsLine = z.object({ response: z.string(), rewards, prompt: z.string().optional() });

const rewardLine = z.object({
  response: z.string(),
  reward: z.number().nullable().optional(),
  prompt: z.string().optional(),
});

/** By what a line says that it is, so that what is wrong with it can be told. */
function parseLine(value: unknown) {
  const line: object = typeof value === 'object' && value !== null ? value : {};
  if ('trajectory' in line) return trajectoryLine.safeParse(line);
  return 'rewards' in line ? rewardsLine.safeParse(line) : rewardLine.safeParse(line);
}

/**
 * Reads saved responses from JSON Lines; a last line that a crash cut short is left out.
 *
 * @param path - Named in errors.
 * @throws FormatError naming the line that is something else.
 */
export function readSavedResponses(text: string, path: string): SavedResponse[] {
  const lines = parseJsonLines(text, { source: path, expected, tornLine: 'skip' });
  return Array.from(lines, ({ number, value }) => {
    const parsed = parseLine(value);
    if (parsed.success) return savedResponse(parsed.data);
    const { path: field, message: problem } = parsed.error.issues[0]!;
    throw new FormatError(`${path}, line ${number}: expected ${expected}; ${field.join('.')}: ${problem}`);
  });
}

const expected = '{"response": "…", "rewards": {"name": number}} or a scored trajectory';

function savedResponse(line: NonNullable<ReturnType<typeof parseLine>['data']>): SavedResponse {
  if ('trajectory' in line) {
    const { response, task } = line.trajectory;
    return {
      response,
      rewards: { ...line.components, total: line.reward },
      prompt: task && promptText(task.prompt),
    };
  }
  if ('rewards' in line) return line;
  const { response, prompt, reward } = line;
  return { response, prompt, rewards: reward === undefined ? {} : { reward } };
}
