import { characterTokenizer, createModel } from '@rlp/models';
import { Graph } from '@rlp/onnx';
import { createEngine } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';
import { createOnnxBackend } from '../create-backend.ts';
import { negativeLogLikelihood, tinyModel } from '../testing/tiny-model.ts';
import { cutRows } from './parameter-blocks.ts';

it('cuts large matrices into equal parts and leaves small ones alone', () => {
  const graph = new Graph();
  const cut = (rows: number) =>
    cutRows(graph, `m${rows}`, graph.input(`m${rows}`, 'float32', [rows, 2])).map(({ block }) => [
      block.firstRow,
      block.shape[0],
    ]);
  expect(cut(2048)).toEqual([]);
  expect(cut(5000)).toEqual([
    [0, 1667],
    [1667, 1667],
    [3334, 1666],
  ]);
  // A vocabulary that makes a large graph has fewer and larger blocks.
  expect(cut(65_536).map(([, rows]) => rows)).toEqual(Array.from({ length: 16 }, () => 4096));
});

it.each([
  ['tied', true],
  ['separate', false],
])('has the gradient of its loss under a large %s head', async (_, tied) => {
  const { config } = tinyModel({ vocab_size: 9000, tie_word_embeddings: tied, num_hidden_layers: 1 });
  const model = createModel({ config, tokenizer: characterTokenizer('ab'), seed: 'large' });
  const engine = await createEngine({ thread: 'inline', threads: 1 });
  const backend = await createOnnxBackend({ engine, model, learningRate: 0.1 });
  const tokens = [5, 8999, 4000, 17, 3001, 6500];
  const sequences = [
    { tokens, mask: tokens.map((_, t) => Math.min(t, 1)), weights: tokens.map(() => 1), columns: {} },
  ];
  const head = tied ? 'model.embed_tokens.weight' : 'lm_head.weight';
  const loss = async (element: number, change: number) => {
    const weights = new Map(model.weights);
    const { shape, data } = weights.get(head)!;
    weights.set(head, { shape, data: data.with(element, data[element]! + change) });
    await backend.loadWeights(weights);
    return (await backend.forwardBackward({ sequences }, negativeLogLikelihood)).loss;
  };
  await backend.forwardBackward({ sequences }, negativeLogLikelihood);
  const gradient = (await engine.readStore('policy', 'gradient')).get(head)!.data;
  for (const token of [8999, 4000, 2999, 3000, 6500]) {
    const element = token * config.hiddenSize + 3;
    const slope = ((await loss(element, 0.005)) - (await loss(element, -0.005))) / 0.01;
    expect(Math.abs(gradient[element]! - slope), `token ${token}`).toBeLessThan(2e-3);
  }
  await backend.close();
  await engine.close();
});
