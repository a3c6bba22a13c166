import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { DeviceCacheSizes } from './device-graph.ts';
import { inverseTemperatures, outputRows, paddedTime, type StepInputs } from './step-inputs.ts';

/** Positions that attention reads are padded to a multiple of this. */
const KEY_PADDING = 64;

/** Inputs of `deviceGraph`. */
export function deviceFeeds(
  inputs: StepInputs,
  { config: { keyValueHeads: heads }, contextLength }: DeviceCacheSizes,
): Tensors {
  const { firstRow, tokens, lengths } = inputs;
  const count = tokens.length;
  const time = paddedTime(inputs);
  const total = Math.max(...tokens.map((row, index) => lengths[index]! + row.length));
  const keys = Math.min(contextLength, KEY_PADDING * Math.ceil(total / KEY_PADDING));
  const ids = new BigInt64Array(count * time);
  const places = new Float32Array(count * time);
  const slots = new BigInt64Array(count * heads * time);
  for (const [row, added] of tokens.entries()) {
    for (let offset = 0; offset < time; offset++) {
      const at = row * time + offset;
      ids[at] = BigInt(added[offset] ?? 0);
      places[at] = Math.min(lengths[row]! + offset, contextLength - 1);
      // Padding goes to the last position, which nothing sees.
      const position = offset < added.length ? lengths[row]! + offset : contextLength;
      for (let head = 0; head < heads; head++) {
        const line = ((firstRow + row) * heads + head) * (contextLength + 1) + position;
        slots[(row * heads + head) * time + offset] = BigInt(line);
      }
    }
  }
  return {
    tokens: new Tensor('int64', ids, [count, time]),
    positions: new Tensor('int64', BigInt64Array.from(places, BigInt), [count, time]),
    places: new Tensor('float32', places, [count, time, 1]),
    key_places: new Tensor(
      'float32',
      Float32Array.from({ length: keys }, (_, key) => key),
      [keys],
    ),
    slots: new Tensor('int64', slots, [slots.length, 1]),
    start: new Tensor('int64', BigInt64Array.of(BigInt(firstRow), 0n), [2]),
    end: new Tensor('int64', BigInt64Array.of(BigInt(firstRow + count), BigInt(keys)), [2]),
    rows: outputRows(inputs, time),
    inverse_temperature: inverseTemperatures(inputs),
  };
}
