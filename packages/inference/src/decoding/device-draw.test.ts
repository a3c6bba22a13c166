import { RandomStream } from '@rlp/core';
import { Graph, serialize } from '@rlp/onnx';
import fc from 'fast-check';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect, it } from 'vitest';
import { drawToken } from '../sampling/draw.ts';
import { drawTokens } from './device-draw.ts';

const vocabulary = 600;

/** Built by the test that needs it, and not while tests are collected. */
let model: Uint8Array | undefined;
function drawingGraph(): Uint8Array {
  const graph = new Graph();
  const drawn = drawTokens(
    graph.input('probabilities', 'float32', ['n', vocabulary]),
    graph.input('uniforms', 'float32', ['n', 1]),
  );
  graph.output('tokens', drawn.tokens);
  graph.output('chosen', drawn.probabilities);
  return serialize(graph);
}

async function draw(rows: readonly Float32Array[], uniforms: readonly number[]) {
  model ??= drawingGraph();
  const session = await InferenceSession.create(model);
  const probabilities = new Float32Array(rows.length * vocabulary);
  for (const [index, row] of rows.entries()) probabilities.set(row, index * vocabulary);
  const { tokens, chosen } = await session.run({
    probabilities: new Tensor('float32', probabilities, [rows.length, vocabulary]),
    uniforms: new Tensor('float32', Float32Array.from(uniforms), [uniforms.length, 1]),
  });
  await session.release();
  return { tokens: [...(tokens!.data as Float32Array)], chosen: [...(chosen!.data as Float32Array)] };
}

/** Mass at few tokens only, all others 0. */
function sparse(seed: number, kept: number): Float32Array {
  const random = RandomStream.named('draw', `${seed}`);
  const row = new Float32Array(vocabulary);
  for (let index = 0; index < kept; index++) row[random.integer(vocabulary)] = random.uniform();
  const total = row.reduce((sum, value) => sum + value, 0);
  return row.map((value) => value / total);
}

const off = { topK: 0, topP: 1, minP: 0 };

it('draws the token that the host draws, unless rounding decides', async () => {
  const rows = Array.from({ length: 200 }, (_, seed) => sparse(seed, 1 + (seed % 300)));
  const uniforms = rows.map((_, index) => RandomStream.named('uniform').at(index));
  const { tokens, chosen } = await draw(rows, uniforms);
  const same = rows.filter((row, index) => drawToken(row, off, uniforms[index]!) === tokens[index]).length;
  expect(same).toBeGreaterThanOrEqual(198);
  for (const [index, row] of rows.entries()) expect(chosen[index]).toBe(row[tokens[index]!]);
});

it('never draws a token without probability, at either end of the range', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(0, 1e-30, 0.25, 0.5, 1 - 2 ** -24),
      async (seed, kept, uniform) => {
        const row = sparse(seed, kept);
        const { tokens, chosen } = await draw([row], [uniform]);
        expect(chosen[0]).toBeGreaterThan(0);
        expect(chosen[0]).toBe(row[tokens[0]!]);
      },
    ),
    { numRuns: 40 },
  );
});

it('draws each token as often as its probability says', async () => {
  const row = new Float32Array(vocabulary);
  row[3] = 0.1;
  row[255] = 0.2;
  row[256] = 0.3;
  row[599] = 0.4;
  const count = 2000;
  const uniforms = Array.from({ length: count }, (_, index) => (index + 0.5) / count);
  const { tokens } = await draw(new Array<Float32Array>(count).fill(row), uniforms);
  const share = (token: number) => tokens.filter((each) => each === token).length / count;
  expect([3, 255, 256, 599].map(share)).toEqual(
    [0.1, 0.2, 0.3, 0.4].map((value) => expect.closeTo(value, 3)),
  );
});
