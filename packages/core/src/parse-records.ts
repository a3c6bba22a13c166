import { FormatError, OptionsError } from './errors.ts';
import { isRecord } from './is-record.ts';
import { parseOptions } from './options/parse-options.ts';
import { type RecordedTrajectory, recordedTrajectorySchema } from './recorded-trajectory.ts';
import { type Trajectory, trajectoryGroupSchema, trajectorySchema } from './trajectory.ts';

/**
 * The trajectories in a line of a file: a trajectory, a scored one with what a run knew of it, or a group.
 *
 * @param place - Names file and line in errors.
 * @throws FormatError naming place and fields of anything else.
 */
export function parseRecords(value: unknown, place: string): readonly (RecordedTrajectory | Trajectory)[] {
  try {
    const { version = 1, ...record } = isRecord(value) ? value : {};
    if (version !== 1) throw new OptionsError(place, [`version: expected 1, got ${String(version)}`]);
    if ('trajectory' in record) return [parseOptions(place, recordedTrajectorySchema, record)];
    if ('trajectories' in record) return parseOptions(place, trajectoryGroupSchema, record).trajectories;
    if ('steps' in record) return [parseOptions(place, trajectorySchema, record)];
    throw new OptionsError(place, ['expected an object with `steps`, `trajectory` or `trajectories`']);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new FormatError(`${place}: not a trajectory: ${error.issues.join('; ')}`, { cause: error });
  }
}
