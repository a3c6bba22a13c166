import { ArgumentError } from '@rlp/core';

import type { StoreTensors } from './channel.ts';
import type { ParameterStore } from './protocol.ts';
import { checkSlot } from './store-layout.ts';

/** A store as the engine owns it. */
export interface OwnedStore extends ParameterStore {
  readonly slots: readonly string[];
  /** Frees device buffers; the store is unusable afterwards. */
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
  const shapes = new Map(store.parameters.map(({ name, shape }) => [name, shape]));
  for (const [name, { shape, data }] of tensors) {
    const expected = shapes.get(name);
    if (expected === undefined) {
      throw new ArgumentError(`writeStore "${store.name}": no parameter named "${name}"`);
    }
    const length = expected.reduce((product, size) => product * size, 1);
    if (shape.length !== expected.length || shape.some((size, axis) => size !== expected[axis])) {
      throw new ArgumentError(
        `writeStore "${store.name}": parameter "${name}" has shape [${expected.join(', ')}], got [${shape.join(', ')}]`,
      );
    }
    if (data.length !== length) {
      throw new ArgumentError(
        `writeStore "${store.name}": parameter "${name}" [${expected.join(', ')}] has ${length} elements, got ${data.length}`,
      );
    }
  }
  for (const [name, { data }] of tensors) await store.write(name, data, slot);
}

/** Copies a store, or one of its slots, out. */
export async function readTensors(store: OwnedStore, slot: string | undefined): Promise<StoreTensors> {
  checkSlot(store.name, store.slots, slot);
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>();
  for (const { name, shape } of store.parameters) {
    tensors.set(name, { shape, data: await store.read(name, slot) });
  }
  return tensors;
}
