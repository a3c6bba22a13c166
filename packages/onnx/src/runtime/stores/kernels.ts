import { ArgumentError, bytesOf } from '@rlp/core';
import type { HostKernels } from '../protocol.ts';
import { adamwCodedAt } from './coded-kernel.ts';
import { type AdamwStep, adamwConstants, type Instance, type KernelExports } from './kernel-exports.ts';
import { kernelsBase64 } from './kernels-binary.ts';
import * as plain from './kernels-plain.ts';
import { type Memory, type Module, webAssembly } from './web-assembly.ts';

/** Bytes at the start of each memory, reserved for the kernels. Outside arrays are copied here in pieces. */
export const scratchBytes = 1 << 18;

let compiled: Module | undefined;

/**
 * Creates kernels over some memories. Compiled once per thread.
 *
 * Arrays inside `memories` are processed in place by SIMD code. Other arrays go through a copy or a
 * JavaScript loop.
 *
 * @param memories - Each begins with {@link scratchBytes} that no array uses.
 */
export function createKernels(memories: readonly Memory[]): HostKernels {
  compiled ??= new webAssembly.Module(bytesOf(kernelsBase64));
  const instances = memories.map(instantiate);
  const home = (x: Float32Array) => instances.find(({ buffer }) => buffer === x.buffer);
  return {
    adamw(state, step) {
      checkAdamw(state, step);
      const at = home(state.value);
      if (at && Object.values(state).every(({ buffer }) => buffer === at.buffer)) adamwAt(at, state, step);
      else plain.adamw(state, step);
    },
    adamwCoded(state, step) {
      checkStep(step);
      const { value, gradient, moment1, moment2 } = state;
      const codes = { moment1: moment1.codes.length, moment2: moment2.codes.length };
      requireLengths('adamwCoded', value.length, { gradient: gradient.length, ...codes });
      const at = home(value);
      if (at && gradient.buffer === at.buffer) adamwCodedAt(at, state, step);
      else plain.adamwCoded(state, step);
    },
    sumOfSquares: (x) => home(x)?.exports.sumOfSquares(x.byteOffset, x.length) ?? plain.sumOfSquares(x),
    combine(y, a, x, b) {
      requireLengths('combine', y.length, { x: x.length });
      const at = home(y);
      if (at) combineAt(at, y, a, x, b);
      else plain.combine(y, a, x, b);
    },
    scatterAddRows(target, rows, indices) {
      const width = rowWidth(target, rows, indices);
      const at = home(target);
      if (!at) return plain.scatterAddRows(target, rows, indices, width);
      scatterAt(at, target, rows, indices, width);
    },
  };
}

function instantiate(memory: Memory): Instance {
  const { exports } = new webAssembly.Instance(compiled!, { host: { memory } });
  return {
    buffer: memory.buffer,
    exports: exports as unknown as KernelExports,
    scratch: new Float32Array(memory.buffer, 0, scratchBytes / 4),
  };
}

function adamwAt(
  at: Instance,
  { value, gradient, moment1, moment2 }: Parameters<HostKernels['adamw']>[0],
  step: AdamwStep,
): void {
  const [p, g, m, v] = [value, gradient, moment1, moment2].map(({ byteOffset }) => byteOffset);
  at.exports.adamw(p!, g!, m!, v!, value.length, ...adamwConstants(step));
}

/** y ← a·y + b·x for a `y` in the memory. An outside `x` passes through the scratch space. */
function combineAt(at: Instance, y: Float32Array, a: number, x: Float32Array, b: number): void {
  if (x.buffer === at.buffer) {
    at.exports.combine(y.byteOffset, x.byteOffset, y.length, a, b);
    return;
  }
  for (let start = 0; start < x.length; start += at.scratch.length) {
    const piece = x.subarray(start, start + at.scratch.length);
    at.scratch.set(piece);
    at.exports.combine(y.byteOffset + 4 * start, 0, piece.length, a, b);
  }
}

/** Adds rows for a `target` in the memory. Outside rows pass through the scratch space in pieces. */
function scatterAt(
  at: Instance,
  target: Float32Array,
  rows: Float32Array,
  indices: Int32Array | BigInt64Array,
  width: number,
): void {
  const inside = rows.buffer === at.buffer;
  const batch = inside ? indices.length : Math.floor(at.scratch.length / width);
  if (batch === 0) {
    plain.scatterAddRows(target, rows, indices, width);
    return;
  }
  for (let first = 0; first < indices.length; first += batch) {
    const end = Math.min(first + batch, indices.length);
    if (!inside) at.scratch.set(rows.subarray(first * width, end * width));
    const source = inside ? rows.byteOffset + first * width * 4 : 0;
    for (let n = first; n < end; n++) {
      const to = target.byteOffset + Number(indices[n]) * width * 4;
      at.exports.combine(to, source + (n - first) * width * 4, width, 1, 1);
    }
  }
}

function checkAdamw(
  { value, gradient, moment1, moment2 }: Parameters<HostKernels['adamw']>[0],
  step: AdamwStep,
): void {
  requireLengths('adamw', value.length, {
    gradient: gradient.length,
    moment1: moment1.length,
    moment2: moment2.length,
  });
  checkStep(step);
}

function checkStep({ epsilon, update }: AdamwStep): void {
  if (!(epsilon > 0)) {
    throw new ArgumentError(
      `adamw: epsilon must be positive, got ${epsilon}: 0 makes NaN of a zero gradient`,
    );
  }
  if (!(update >= 1)) throw new ArgumentError(`adamw: expected an update of at least 1, got ${update}`);
}

function requireLengths(owner: string, expected: number, lengths: Readonly<Record<string, number>>): void {
  for (const [name, length] of Object.entries(lengths)) {
    if (length !== expected) {
      throw new ArgumentError(
        `${owner}: ${name} must have ${expected} elements like its counterpart, got ${length}`,
      );
    }
  }
}

function rowWidth(target: Float32Array, rows: Float32Array, indices: Int32Array | BigInt64Array): number {
  if (indices.length === 0) return 0;
  const width = rows.length / indices.length;
  if (!Number.isInteger(width) || width === 0 || target.length % width !== 0) {
    throw new ArgumentError(
      `scatterAddRows: ${rows.length} row elements for ${indices.length} indices do not make rows of a target of ${target.length}; the three must have rows of one width`,
    );
  }
  const height = target.length / width;
  for (let n = 0; n < indices.length; n++) {
    const index = Number(indices[n]);
    if (index < 0 || index >= height) {
      throw new ArgumentError(`scatterAddRows: indices[${n}] is ${index}, expected 0 to ${height - 1}`);
    }
  }
  return width;
}
