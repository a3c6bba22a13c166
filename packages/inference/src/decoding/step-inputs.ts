import type { TokenId } from '@rlp/core';
import { type EngineSession, Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { NextTokens } from './cached-decoder.ts';

/** `'prompts'`: any number of tokens in any consecutive rows. `'tokens'`: one token in each of the first rows. */
export type StepKind = 'prompts' | 'tokens';

/** New tokens of consecutive rows. */
export interface StepInputs {
  readonly firstRow: number;
  /** Tokens to append, by row. */
  readonly tokens: readonly (readonly TokenId[])[];
  /** Number of tokens in each row before the step. */
  readonly lengths: readonly number[];
  /** Temperatures of each row's last tokens whose distributions are wanted. */
  readonly temperatures: readonly number[];
}

/** One token for each of the first rows. */
export function oneTokenEach({ tokens, positions, temperatures }: NextTokens): StepInputs {
  return { firstRow: 0, tokens: tokens.map((token) => [token]), lengths: positions, temperatures };
}

/** Lengths of prompts are padded to a multiple of this. */
const PROMPT_PADDING = 16;

/** Tokens of the longest row. */
export function longestOf({ tokens }: StepInputs): number {
  return Math.max(...tokens.map((row) => row.length));
}

/** Padded length of a step. A device compiles a program for each length, so steps of several tokens have few lengths. */
export function paddedTime(inputs: StepInputs): number {
  const longest = longestOf(inputs);
  return longest === 1 ? 1 : PROMPT_PADDING * Math.ceil(longest / PROMPT_PADDING);
}

/** Indices among `count · time` of the tokens whose distributions are wanted: the last ones of each row. Shape: `[outputs]`. */
export function outputRows({ tokens, temperatures }: StepInputs, time: number): Tensor {
  const each = temperatures.length / tokens.length;
  const rows = tokens.flatMap((added, row) =>
    Array.from({ length: each }, (_, index) => BigInt(row * time + added.length - each + index)),
  );
  return new Tensor('int64', BigInt64Array.from(rows), [rows.length]);
}

/** Factors of the last hidden states. Shape: `[outputs, 1]`. */
export function inverseTemperatures({ temperatures }: StepInputs): Tensor {
  const inverse = Float32Array.from(temperatures, (temperature) => 1 / temperature);
  return new Tensor('float32', inverse, [temperatures.length, 1]);
}

/** The tensors that a session reads. */
export function feedsOf({ inputNames }: EngineSession, tensors: Tensors): Tensors {
  return Object.fromEntries(inputNames.map((name) => [name, tensors[name]!]));
}

/** An output in float32. The array belongs to the tensor. */
export function floats(outputs: Tensors, name: string): Float32Array {
  return outputs[name]!.data as Float32Array;
}
