import type { TokenId } from '@rlp/core';
import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { DeviceCacheSizes } from './device-graph.ts';
import { inverseTemperatures } from './stored-decoder.ts';

/** Lengths of prompts, and positions that attention reads, are padded to a multiple of these. */
const PROMPT_PADDING = 16;
const KEY_PADDING = 64;

/** New tokens of some rows. */
export interface StepInputs {
  readonly firstRow: number;
  /** Tokens to append, by row. */
  readonly tokens: readonly (readonly TokenId[])[];
  /** Tokens each row holds already. */
  readonly lengths: readonly number[];
  /** Of the last tokens of each row whose distributions are wanted. */
  readonly temperatures: readonly number[];
}

/** Inputs of `fusedGraph` for one token in each row. */
export function tokenFeeds({ tokens, lengths, temperatures }: StepInputs): Tensors {
  const count = tokens.length;
  return {
    tokens: new Tensor(
      'int64',
      BigInt64Array.from(tokens, ([token]) => BigInt(token!)),
      [count, 1],
    ),
    positions: new Tensor('int64', BigInt64Array.from(lengths, BigInt), [count, 1]),
    last_positions: new Tensor('int32', Int32Array.from(lengths), [count]),
    total: new Tensor('int32', Int32Array.of(Math.max(...lengths) + 1), [1]),
    inverse_temperature: inverseTemperatures(temperatures),
  };
}

/** Inputs of `deviceGraph`. */
export function stepFeeds(
  { firstRow, tokens, lengths, temperatures }: StepInputs,
  { config: { keyValueHeads: heads }, contextLength }: DeviceCacheSizes,
): Tensors {
  const count = tokens.length;
  const longest = Math.max(...tokens.map((row) => row.length));
  // Programs of a device are compiled for each length, so steps of more than one token have few of them.
  const time = longest === 1 ? 1 : paddedTo(PROMPT_PADDING, longest);
  const total = Math.max(...tokens.map((row, index) => lengths[index]! + row.length));
  const keys = Math.min(contextLength, paddedTo(KEY_PADDING, total));
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
  const each = temperatures.length / count;
  const rows = tokens.flatMap((added, row) =>
    Array.from({ length: each }, (_, index) => BigInt(row * time + added.length - each + index)),
  );
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
    rows: new Tensor('int64', BigInt64Array.from(rows), [rows.length]),
    inverse_temperature: inverseTemperatures(temperatures),
  };
}

function paddedTo(multiple: number, count: number): number {
  return multiple * Math.ceil(count / multiple);
}
