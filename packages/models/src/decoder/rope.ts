import { ArgumentError, requireArguments, requireFields } from '@rlp/core';
import type { Dimension, Graph, Value } from '@rlp/onnx';
import type { OperatorSet } from '@rlp/onnx/layers';
import { add, cast, cos, div, gather, mul, range, reshape, sin, sub } from '@rlp/onnx/ops';

import type { ModelConfig, PositionEncoding, RopeScaling } from '../config/model-config.ts';

/** Cosines and sines of the rotary angles, ready for `rotaryEmbedding` and for grouped-query attention's caches. */
export interface RopeTables {
  /** `[positions, headDimension / 2]` */
  readonly shape: readonly [positions: number, half: number];
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

/**
 * Rotary tables for positions 0 … `positions` − 1: `cos(p · f_i)` and `sin(p · f_i)`.
 *
 * The frequencies are `f_i = theta^(−2i / headDimension)`, stretched by the config's scaling. YaRN's attention factor is
 * multiplied in.
 *
 * @param position - Encoding of a layer; default: the model's. See `positionOf`.
 * @throws ArgumentError if the encoding is not rotary.
 * @see transformers 4.57, `modeling_rope_utils.py`
 */
export function ropeTables(
  config: ModelConfig,
  positions: number,
  position: PositionEncoding = config?.position,
): RopeTables {
  requireFields('ropeTables', { headDimension: 'number', contextLength: 'number' }, config);
  requireArguments('ropeTables', { positions: 'number', position: 'object' }, positions, position);
  return tablesOf(rotationOf(config, position), positions, 1);
}

/** Frequencies of a rotary encoding, and the factor of its tables. */
interface Rotation {
  readonly frequencies: readonly number[];
  readonly factor: number;
}

/** Tables of the positions 0, `stride`, 2 · `stride`, … */
function tablesOf({ frequencies, factor }: Rotation, count: number, stride: number): RopeTables {
  const half = frequencies.length;
  const cos = new Float32Array(count * half);
  const sin = new Float32Array(count * half);
  for (let row = 0; row < count; row++) {
    for (const [index, frequency] of frequencies.entries()) {
      const angle = row * stride * frequency;
      cos[row * half + index] = factor * Math.cos(angle);
      sin[row * half + index] = factor * Math.sin(angle);
    }
  }
  return { shape: [count, half], cos, sin };
}

/**
 * The tables of {@link ropeTables} as values of a graph, `[positions, headDimension / 2]` each.
 *
 * They are constants if `positions` is a number. For a named axis they are computed at run time: in float64, or for `'portable'` operators by
 * {@link sumOfAngles}.
 *
 * @throws ArgumentError if the encoding is not rotary.
 */
export function ropeValues(
  graph: Graph,
  config: ModelConfig,
  positions: Dimension,
  options: { readonly position?: PositionEncoding | undefined; readonly ops?: OperatorSet } = {},
): { readonly cos: Value; readonly sin: Value } {
  const { position = config.position, ops } = options;
  if (typeof positions === 'number') {
    const tables = ropeTables(config, positions, position);
    return { cos: graph.constant(tables.cos, tables.shape), sin: graph.constant(tables.sin, tables.shape) };
  }
  const rotation = rotationOf(config, position);
  const index = range(graph, positions);
  if (ops === 'portable') return sumOfAngles(index, rotation, config.contextLength);
  const { frequencies, factor } = rotation;
  const column = reshape(cast(index, 'float64'), [positions, 1]);
  const angles = mul(column, graph.constant(frequencies, [1, frequencies.length], 'float64'));
  return { cos: cast(mul(cos(angles), factor), 'float32'), sin: cast(mul(sin(angles), factor), 'float32') };
}

/**
 * `cos(a + b) = cos a · cos b − sin a · sin b` of constants for every 64th position and for the 64 positions from there. WebGPU has no float64,
 * and angles in float32 would be too coarse.
 *
 * @param index - Positions below `contextLength`, int64 `[n]`.
 */
function sumOfAngles(index: Value, rotation: Rotation, contextLength: number) {
  const coarse = tablesOf(rotation, Math.ceil(contextLength / STRIDE), STRIDE);
  const fine = tablesOf({ ...rotation, factor: 1 }, STRIDE, 1);
  const block = div(index, STRIDE);
  const rest = sub(index, mul(block, STRIDE));
  const rows = ({ shape, ...tables }: RopeTables, at: Value) =>
    [tables.cos, tables.sin].map((table) => gather(index.graph.constant(table, shape), at)) as [Value, Value];
  const [cosA, sinA] = rows(coarse, block);
  const [cosB, sinB] = rows(fine, rest);
  return {
    cos: sub(mul(cosA, cosB), mul(sinA, sinB)),
    sin: add(mul(sinA, cosB), mul(cosA, sinB)),
  };
}

/** Distance of the positions in the coarse table of {@link sumOfAngles}. */
const STRIDE = 64;

function rotationOf(config: ModelConfig, position: PositionEncoding): Rotation {
  if (position.type !== 'rotary') {
    throw new ArgumentError(
      `ropeTables: expected rotary positions, got ${config.architecture} with type "${position.type}"`,
    );
  }
  const { theta, scaling } = position;
  return {
    frequencies: ropeFrequencies(theta, scaling, config.headDimension),
    factor: 'attentionFactor' in scaling ? scaling.attentionFactor : 1,
  };
}

/** Angles per position of the pairs of a head, `[headDimension / 2]`. */
export function ropeFrequencies(
  theta: number,
  scaling: RopeScaling,
  headDimension: number,
): readonly number[] {
  const plain = Array.from(
    { length: headDimension / 2 },
    (_, index) => theta ** ((-2 * index) / headDimension),
  );
  switch (scaling.type) {
    case 'none':
      return plain;
    case 'linear':
      return plain.map((frequency) => frequency / scaling.factor);
    case 'llama3':
      return plain.map((frequency) => llama3Frequency(frequency, scaling));
    case 'yarn':
      return yarnFrequencies(plain, theta, scaling);
    case 'longrope':
      return plain.map((frequency, index) => frequency / scaling.factors[index]!);
  }
}

function llama3Frequency(frequency: number, scaling: Extract<RopeScaling, { type: 'llama3' }>): number {
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high } = scaling;
  /** Rotations over the pretraining context. */
  const turns = (scaling.originalContextLength * frequency) / (2 * Math.PI);
  if (turns < low) return frequency / factor;
  if (turns > high) return frequency;
  const smooth = (turns - low) / (high - low);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}

function yarnFrequencies(
  plain: readonly number[],
  theta: number,
  scaling: Extract<RopeScaling, { type: 'yarn' }>,
): readonly number[] {
  const dimensions = 2 * plain.length;
  /** Dimension whose angle rotates this many times over the pretraining context. */
  const dimensionOf = (turns: number) =>
    (dimensions * Math.log(scaling.originalContextLength / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const round = scaling.truncate === 'integer';
  const low = round ? Math.floor(dimensionOf(scaling.betaFast)) : dimensionOf(scaling.betaFast);
  const high = round ? Math.ceil(dimensionOf(scaling.betaSlow)) : dimensionOf(scaling.betaSlow);
  const from = Math.max(low, 0);
  const to = Math.min(high, dimensions - 1);
  const width = from === to ? 0.001 : to - from;
  return plain.map((frequency, index) => {
    const ramp = Math.min(1, Math.max(0, (index - from) / width));
    return (frequency / scaling.factor) * ramp + frequency * (1 - ramp);
  });
}
