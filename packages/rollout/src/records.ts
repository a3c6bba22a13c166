import { FormatError, OptionsError, parseOptions, type Trajectory, trajectorySchema } from '@rlp/core';

/** One trajectory as a line of JSON, without the line break. */
export function trajectoryToLine(trajectory: Trajectory): string {
  return JSON.stringify(trajectory);
}

/**
 * Reads what {@link trajectoryToLine} wrote.
 *
 * @param place - Names file and line in errors.
 * @throws `FormatError` naming place and fields of a malformed record.
 */
export function trajectoryFromLine(line: string, place: string): Trajectory {
  try {
    return parseOptions(place, trajectorySchema, JSON.parse(line.trim()));
  } catch (error) {
    if (error instanceof OptionsError) {
      throw new FormatError(`${place}: not a trajectory: ${error.issues.join('; ')}`, { cause: error });
    }
    throw new FormatError(`${place}: expected one JSON object per line: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Reads trajectories from JSON Lines, empty lines skipped.
 *
 * @param source - Names the text in errors, such as its file.
 * @throws `FormatError` naming source, line and fields of the first malformed record.
 */
export function trajectoriesFromJsonl(text: string, source = 'trajectories'): Trajectory[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [trajectoryFromLine(line, `${source}, line ${index + 1}`)],
    );
}
