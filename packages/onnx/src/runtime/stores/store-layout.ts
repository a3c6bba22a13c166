import { ArgumentError, EngineError } from '@rlp/core';
import * as z from 'zod';

import { elementCount } from '../../graph/shape.ts';
import type { ParameterSpec, StoreSpec } from '../protocol.ts';

const schema = z.strictObject({
  name: z.string().min(1),
  parameters: z
    .array(z.strictObject({ name: z.string().min(1), shape: z.array(z.int().nonnegative()) }))
    .min(1, 'a store holds at least one parameter'),
  slots: z.array(z.string().min(1)).default([]),
});

/** Schema of a {@link StoreSpec}. */
export const storeSpecSchema = schema;

/** Position of one parameter: its memory, and its first element within a slot's region there. */
export interface Placement {
  readonly spec: ParameterSpec;
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** Layout of a store over memories. For each memory: the number of elements of one region (values or a slot). */
export interface StoreLayout {
  readonly placements: ReadonlyMap<string, Placement>;
  readonly regionLengths: readonly number[];
}

const alignmentElements = 16;

/**
 * Places parameters one after the other at multiples of 64 bytes. Opens another memory when one is full.
 *
 * @param regions - Number of regions in each memory: values and slots.
 * @param limitBytes - Capacity of one memory.
 * @throws ArgumentError for a repeated name.
 * @throws EngineError for a parameter that exceeds one memory.
 */
export function layOut(spec: StoreSpec, regions: number, limitBytes: number): StoreLayout {
  const placements = new Map<string, Placement>();
  const regionLengths = [0];
  const capacity = Math.floor(limitBytes / 4 / regions / alignmentElements) * alignmentElements;
  for (const parameter of spec.parameters) {
    if (placements.has(parameter.name)) {
      throw new ArgumentError(
        `createStore "${spec.name}": parameter "${parameter.name}" occurs twice; name each parameter once`,
      );
    }
    const length = elementCount(parameter.shape);
    const padded = Math.ceil(length / alignmentElements) * alignmentElements;
    if (padded > capacity) throw tooLarge(spec, parameter, regions, limitBytes);
    if (regionLengths.at(-1)! + padded > capacity) regionLengths.push(0);
    const segment = regionLengths.length - 1;
    placements.set(parameter.name, { spec: parameter, segment, offset: regionLengths[segment]!, length });
    regionLengths[segment]! += padded;
  }
  return { placements, regionLengths };
}

function tooLarge(
  spec: StoreSpec,
  { name, shape }: ParameterSpec,
  regions: number,
  limitBytes: number,
): EngineError {
  const gib = (bytes: number) => `${(bytes / 2 ** 30).toFixed(2)} GiB`;
  return new EngineError(
    `createStore "${spec.name}": parameter "${name}" [${shape.join(', ')}] takes ${gib(elementCount(shape) * 4)}, ` +
      `${gib(elementCount(shape) * 4 * regions)} with its ${regions - 1} slots, and one memory holds ${gib(limitBytes)}. ` +
      'Keep slots in stores of their own, or split the parameter',
  );
}

/** Position of a parameter. Throws an ArgumentError that lists some known names. */
export function placementOf(store: string, layout: StoreLayout, parameter: string): Placement {
  const placement = layout.placements.get(parameter);
  if (placement) return placement;
  const known = [...layout.placements.keys()];
  const shown = known.slice(0, 8).join(', ') + (known.length > 8 ? `, … (${known.length} in all)` : '');
  throw new ArgumentError(`store "${store}": no parameter named "${parameter}", expected one of: ${shown}`);
}

/** Checks that a slot exists. `undefined` selects the values. */
export function checkSlot(store: string, slots: readonly string[], slot: string | undefined): void {
  if (slot === undefined || slots.includes(slot)) return;
  const known = slots.length > 0 ? `its slots are: ${slots.join(', ')}` : 'it has no slots';
  throw new ArgumentError(`store "${store}": no slot named "${slot}", ${known}`);
}

/** Checks that `data` fits a parameter. */
export function checkLength(store: string, { spec, length }: Placement, actual: number): void {
  if (actual !== length) {
    throw new ArgumentError(
      `store "${store}": parameter "${spec.name}" [${spec.shape.join(', ')}] has ${length} elements, got ${actual}; give data of its shape`,
    );
  }
}
