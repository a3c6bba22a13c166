import { FormatError, messageOf, parseRecords, requireArguments, type Trajectory } from '@rlp/core';
import { parseJsonLines } from '@rlp/data';
import { lostInJson } from './episode/plain-state.ts';

/** Version of the records below. Readers refuse others. */
const VERSION = 1;

/**
 * One trajectory as a line of JSON with its format's `version`, without the line break.
 *
 * @throws FormatError naming the field that JSON cannot hold.
 */
export function trajectoryToLine(trajectory: Trajectory): string {
  try {
    return JSON.stringify({ version: VERSION, ...trajectory });
  } catch (error) {
    const { state, ...rest } = trajectory;
    const lost = lostInJson(state) ?? lostInJson(rest, 'trajectory') ?? messageOf(error);
    throw new FormatError(`trajectoryToLine: "${trajectory.id}" needs plain data, but ${lost}`, {
      cause: error,
    });
  }
}

/** What each line of a file of trajectories holds. */
export const expected = 'one JSON object per line';

/**
 * Reads what {@link trajectoryToLine} wrote.
 *
 * @param place - Names file and line in errors. Default `'line'`.
 * @throws FormatError naming place and fields of a malformed record.
 */
export function trajectoryFromLine(line: string, place = 'line'): Trajectory {
  let value: unknown;
  try {
    value = JSON.parse(line.trim());
  } catch (error) {
    throw new FormatError(`${place}: expected ${expected}: ${(error as Error).message}`, { cause: error });
  }
  return trajectoryOf(value, place);
}

/**
 * Reads trajectories from JSON Lines. Empty lines are skipped.
 *
 * @param source - Names the text in errors, such as its file.
 * @throws FormatError naming source, line and fields of the first malformed record.
 */
export function trajectoriesFromJsonl(text: string, source = 'trajectories'): Trajectory[] {
  requireArguments('trajectoriesFromJsonl', { text: 'text', source: 'text?' }, text, source);
  return Array.from(parseJsonLines(text, { source, expected }), ({ number, value }) =>
    trajectoryOf(value, `${source}, line ${number}`),
  );
}

/** The trajectory in a parsed line, which may be a scored one. */
export function trajectoryOf(value: unknown, place: string): Trajectory {
  const [record, ...others] = parseRecords(value, place);
  if (record === undefined || others.length > 0) {
    throw new FormatError(`${place}: expected one trajectory, got a group of ${others.length + 1}`);
  }
  return 'trajectory' in record ? record.trajectory : record;
}
