import { EngineError } from '@rlp/core';
import { Graph } from '../../graph/graph.ts';
import { serialize } from '../../graph/serialize.ts';
import { gemm } from '../../ops/matrix.ts';
import { softmax } from '../../ops/softmax.ts';
import type { NativeRuntime, NativeSessionOptions } from '../native/native.ts';

const size = 8;
/** A driver that is right rounds otherwise; one that is wrong is far off. */
const tolerance = 1e-3;

/**
 * Computes a product and a softmax on the provider, and compares them with JavaScript's.
 *
 * @throws EngineError if they differ. What the provider throws if it does not work.
 */
export async function probeProvider(runtime: NativeRuntime, options: NativeSessionOptions): Promise<void> {
  const session = await runtime.createSession(probeModel(), options);
  const data = Float32Array.from({ length: size * size }, (_, index) => Math.sin(index));
  const { y } = await session
    .run({ x: runtime.tensor('float32', data, [size, size]) }, ['y'], {})
    .finally(() => session.release());
  const found = y!.data as Float32Array;
  const error = expected(data).reduce(
    (most, value, index) => Math.max(most, Math.abs(value - found[index]!)),
    0,
  );
  if (error <= tolerance) return;
  throw new EngineError(
    `it computes wrong numbers: a product and a softmax are off by ${error.toPrecision(2)}; install another driver, or use the provider cpu`,
  );
}

/** `softmax(x xᵀ)` of an 8 × 8 matrix. */
function probeModel(): Uint8Array {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [size, size]);
  graph.output('y', softmax(gemm(x, x, { transposeB: 'yes' })));
  return serialize(graph);
}

function expected(x: Float32Array): number[] {
  const row = (index: number) => x.subarray(index * size, (index + 1) * size);
  const dot = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, index) => sum + value * b[index]!, 0);
  return Array.from({ length: size }, (_, i) => {
    const exponentials = Array.from({ length: size }, (__, j) => Math.exp(dot(row(i), row(j))));
    const total = exponentials.reduce((sum, value) => sum + value, 0);
    return exponentials.map((value) => value / total);
  }).flat();
}
