import { elementCount } from '@rlp/onnx';
import type { CallContext, ParameterStore } from '@rlp/onnx/runtime';
import { movingAverage } from '../optimizer/optimizer.ts';
import type { NamedTensor } from '../program-protocol.ts';

/** Copies of a store's parameters or of a slot, moved to the caller. */
export async function copyOut(
  store: ParameterStore,
  slot: string | undefined,
  call: CallContext,
): Promise<NamedTensor[]> {
  const copies: NamedTensor[] = [];
  for (const { name, shape } of store.parameters) {
    copies.push({ name, shape, data: await store.read(name, slot) });
  }
  call.transfer(...copies.map(({ data }) => data.buffer as ArrayBuffer));
  return copies;
}

/** Copies tensors into a store or a slot. */
export async function copyIn(
  store: ParameterStore,
  slot: string | undefined,
  tensors: readonly NamedTensor[],
): Promise<void> {
  for (const { name, data } of tensors) await store.write(name, data, slot);
}

/** target ← decay · target + (1 − decay) · source, for each parameter. */
export async function mixStores(
  target: ParameterStore,
  decay: number,
  source: ParameterStore,
): Promise<void> {
  for (const { name } of target.parameters) {
    if (target.residency === 'device') await mixOnDevice(target, decay, source, name);
    else if (decay === 0) target.data(name).set(source.data(name));
    else target.kernels.combine(target.data(name), decay, source.data(name), 1 - decay);
  }
}

/** Mixes on the host, because reference updates are rare. */
async function mixOnDevice(
  target: ParameterStore,
  decay: number,
  source: ParameterStore,
  name: string,
): Promise<void> {
  const values = await source.read(name);
  if (decay === 0) return target.write(name, values);
  const average = await target.read(name);
  movingAverage(average, values, decay);
  await target.write(name, average);
}

/** Sets parameters or their part of a slot to zero. */
export async function clearParameters(
  store: ParameterStore,
  parameters: ParameterStore['parameters'],
  slot?: string,
): Promise<void> {
  for (const { name, shape } of parameters) {
    await store.write(name, new Float32Array(elementCount(shape)), slot);
  }
}
