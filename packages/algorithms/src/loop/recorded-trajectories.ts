import type { RecordedTrajectory, StepTrace, Trajectory } from '@rlp/core';
import type { TokenRows } from '../statistics/token-rows.ts';
import type { TokenBatch } from './protocol.ts';

/** What was found of the steps of each trajectory, by the trajectory. */
export type StepTraces = ReadonlyMap<Trajectory, readonly StepTrace[]>;

/** What an iteration learned from. */
interface Learned {
  readonly batch: TokenBatch;
  /** Shape `[B][T]`. */
  readonly advantages: TokenRows;
  readonly traces: StepTraces;
  readonly iteration: number;
}

/** The trajectories that were learned from, with what was known of each token before the first update. */
export function recordedTrajectories({
  batch,
  advantages,
  traces,
  iteration,
}: Learned): RecordedTrajectory[] {
  return batch.owners.map(({ scored }, b) => {
    const known = traces.get(scored.trajectory) ?? [];
    const trace = scored.trajectory.steps.map(({ tokens }, index): StepTrace => {
      const places = placesOf(batch.steps[b]!, index);
      // Masked as a whole, as truncated trajectories can be.
      if (places.length !== tokens.length) return { ...known[index] };
      return { ...tokenTrace(batch, b, places), advantages: at(advantages[b]!, places), ...known[index] };
    });
    return { ...scored, iteration, trace };
  });
}

/** Where a step's tokens are in its row. */
function placesOf(steps: ArrayLike<number>, index: number): readonly number[] {
  const places: number[] = [];
  for (let t = 0; t < steps.length; t++) if (steps[t] === index) places.push(t);
  return places;
}

function tokenTrace(
  { masks, behaviorLogprobs, proximalLogprobs, entropies }: TokenBatch,
  b: number,
  places: readonly number[],
): StepTrace {
  const proximal = proximalLogprobs?.[b];
  return {
    mask: at(masks[b]!, places),
    ...(proximal && { ratios: places.map((t) => Math.exp(proximal[t]! - behaviorLogprobs[b]![t]!)) }),
    ...(entropies && { entropies: at(entropies[b]!, places) }),
  };
}

function at(row: ArrayLike<number>, places: readonly number[]): number[] {
  return places.map((t) => row[t]!);
}

/** How far steps were compared with others from their state. */
export interface AnchorStatistics {
  /** Share of steps from a state in which another step of the group began. */
  readonly compared: number;
  /** Mean number of steps from the state of a step, itself included. */
  readonly steps: number;
}

/** Statistics of the states that steps were compared in. `undefined` if none were. */
export function anchorStatistics(traces: StepTraces): AnchorStatistics | undefined {
  const sizes = [...traces.values()].flatMap((trace) =>
    trace.flatMap(({ anchor }) => (anchor === undefined ? [] : [anchor.steps])),
  );
  if (sizes.length === 0) return undefined;
  return {
    compared: sizes.filter((size) => size > 1).length / sizes.length,
    steps: sizes.reduce((sum, size) => sum + size, 0) / sizes.length,
  };
}
