import { ArgumentError } from '@rlp/core';
import { elementCount } from '../../graph/shape.ts';

import type { StorePart } from '../channel.ts';
import type { ParameterStore, StoreTensor, StoreTensors } from '../protocol.ts';
import { checkSlot } from './store-layout.ts';

/** A store, from the side of the engine that owns it. */
export interface OwnedStore extends ParameterStore {
  readonly slots: readonly string[];
  /** Frees device buffers. The store is unusable afterwards. */
  dispose(): void;
}

/**
 * Copies tensors into a store.
 *
 * @throws ArgumentError for an unknown name or a wrong shape, before anything is written.
 */
export async function writeTensors(
  store: OwnedStore,
  tensors: StoreTensors,
  slot: string | undefined,
): Promise<void> {
  checkSlot(store.name, store.slots, slot);
  checkShapes('writeStore', store, tensors);
  for (const [name, tensor] of tensors) checkLength('writeStore', store.name, name, tensor);
  for (const [name, { data }] of tensors) await store.write(name, data, slot);
}

/**
 * Checks that a store has these tensors, with these shapes. Does not read their data.
 *
 * @param owner - Start of the error message.
 * @throws ArgumentError for an unknown name or a wrong shape.
 */
export function checkShapes(
  owner: string,
  store: Pick<ParameterStore, 'name' | 'parameters'>,
  tensors: StoreTensors,
): void {
  const shapes = new Map(store.parameters.map(({ name, shape }) => [name, shape]));
  for (const [name, { shape }] of tensors) {
    const expected = shapes.get(name);
    if (expected === undefined) {
      throw new ArgumentError(
        `${owner} "${store.name}": no parameter named "${name}"; expected some of ${[...shapes.keys()].slice(0, 5).join(', ')}${shapes.size > 5 ? ', …' : ''}`,
      );
    }
    if (shape.length !== expected.length || shape.some((size, axis) => size !== expected[axis])) {
      throw new ArgumentError(
        `${owner} "${store.name}": parameter "${name}" has shape [${expected.join(', ')}], got [${shape.join(', ')}]`,
      );
    }
  }
}

/** @throws ArgumentError unless a parameter has as many numbers as its shape says. */
export function checkLength(
  owner: string,
  store: string,
  parameter: string,
  { shape, data }: StoreTensor,
): void {
  const length = elementCount(shape);
  if (data.length === length) return;
  throw new ArgumentError(
    `${owner} "${store}": parameter "${parameter}" [${shape.join(', ')}] has ${length} elements, got ${data.length}; give data of its shape`,
  );
}

/**
 * Writes a part of a parameter and returns the part's memory. A store on a device takes only whole
 * parameters.
 */
export async function writePart(store: OwnedStore, part: StorePart): Promise<ArrayBufferLike> {
  const { parameter, first, count, buffer } = part;
  const data = new Float32Array(buffer, 0, count);
  if (store.residency === 'device') await store.write(parameter, data);
  else store.data(parameter).set(data, first);
  return buffer;
}

/** Returns a copy of a store or one of its slots. */
export async function readTensors(store: OwnedStore, slot: string | undefined): Promise<StoreTensors> {
  checkSlot(store.name, store.slots, slot);
  const tensors = new Map<string, StoreTensor>();
  for (const { name, shape } of store.parameters) {
    tensors.set(name, { shape, data: await store.read(name, slot) });
  }
  return tensors;
}
