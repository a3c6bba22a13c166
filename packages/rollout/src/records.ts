import {
  FormatError,
  isRecord,
  OptionsError,
  parseOptions,
  type Trajectory,
  trajectorySchema,
} from '@rlp/core';

/** Version of the records below; readers refuse others. */
const VERSION = 1;

/** One trajectory as a line of JSON with its format's `version`, without the line break. */
export function trajectoryToLine(trajectory: Trajectory): string {
  return JSON.stringify({ version: VERSION, ...trajectory });
}

/**
 * Reads what {@link trajectoryToLine} wrote.
 *
 * @param place - Names file and line in errors.
 * @throws `FormatError` naming place and fields of a malformed record.
 */
export function trajectoryFromLine(line: string, place: string): Trajectory {
  try {
    const record: unknown = JSON.parse(line.trim());
    if (!isRecord(record)) throw new OptionsError(place, ['expected an object']);
    const { version, ...trajectory } = record;
    if (version !== VERSION) {
      throw new OptionsError(place, [`version: expected ${VERSION}, got ${String(version)}`]);
    }
    return parseOptions(place, trajectorySchema, trajectory);
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
