import { RandomStream } from '@rlp/core';
import { createModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine, type EngineHost } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InferenceModule } from '../inference-module.ts';
import { createOnnxSampler } from '../onnx-sampler.ts';
import { tinyConfigs, tinyModel, tinyTokenizer } from '../testing/tiny-models.ts';
import { FusedDecoder } from './fused-decoder.ts';

let engine: Engine;
let host: EngineHost;
beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 2 });
  const capture = (given: EngineHost) => {
    host = given;
    return {};
  };
  await engine.start({ url: new URL('capture:'), load: async () => ({ default: capture }) }, {});
});
afterAll(() => engine.close());

describe.each(['llama', 'llama, kernel rotation', 'mistral', 'qwen3, experts'] as const)('%s', (name) => {
  it.each([47, 48, 49, 80])('gets the same numbers in halves, from 48 rows on: %i rows', async (rows) => {
    const config = parseModelConfig(tinyConfigs[name], name);
    const store = `${name} ${rows}`;
    const model = createModel({ config, tokenizer: tinyTokenizer, seed: name });
    const parameters = [...model.weights].map(([parameter, { shape }]) => ({ name: parameter, shape }));
    await engine.createStore({ name: store, parameters }, model.weights);
    const sizes = { config, store, contextLength: 24, maxSequences: rows } as const;
    const start = (lanes: 1 | 2) => {
      const { executionProvider, residency, threads } = host;
      const sessions: unknown[] = [];
      const own: Partial<EngineHost> = {
        ...{ executionProvider, residency, threads, lanes },
        store: (given) => host.store(given),
        createSession: (graph, options) => {
          sessions.push(options?.runs);
          return host.createSession(graph, options);
        },
      };
      const decoder = new FusedDecoder(own as EngineHost, {
        ...sizes,
        weights: 'shared',
        operators: 'fused',
      });
      return { decoder, sessions };
    };
    const [whole, halves] = [start(1), start(2)];
    const random = RandomStream.named(name, rows);
    const token = () => random.integer(config.vocabularySize);
    const prompts = Array.from({ length: rows }, () => Array.from({ length: 1 + random.integer(9) }, token));
    const temperatures = prompts.map((_, index) => 0.5 + index / rows);
    for (const { decoder } of [whole, halves]) await decoder.prefill(0, prompts, temperatures, 'unneeded');
    for (let step = 0; step < 6; step++) {
      const tokens = prompts.map(token);
      const positions = prompts.map(({ length }) => length + step);
      const need = step % 2 === 0 ? 'needed' : 'unneeded';
      const expected = await whole.decoder.decode(tokens, positions, temperatures, need);
      const found = await halves.decoder.decode(tokens, positions, temperatures, need);
      expect(found).toEqual(expected);
    }
    expect(whole.sessions).not.toContain('side by side');
    expect(halves.sessions.includes('side by side')).toBe(rows >= 48);
    for (const { decoder } of [whole, halves]) await decoder.close();
  });
});

it('a sampler in a worker draws the same in two lanes as in one thread', async () => {
  const results = [];
  for (const threads of [1, 2]) {
    const worker = await createEngine({ threads, profiling: 'runs' });
    const sampler = await createOnnxSampler({ engine: worker, model: tinyModel('llama'), maxSequences: 24 });
    const inference = await InferenceModule.create({ backend: sampler });
    const prompt = tinyTokenizer.encode('once');
    const group = await inference.sample({ prompt, count: 24, maxTokens: 12, seed: 'lanes' });
    const drawn = group.map(({ tokens, behaviorLogprobs }) => [[...tokens], [...behaviorLogprobs]]);
    results.push({ drawn, runs: (await worker.profile())[0]!.count });
    await worker.close();
  }
  expect(results[1]!.drawn).toEqual(results[0]!.drawn);
  // Where runs leave the thread, steps of enough rows are two runs.
  expect(results[1]!.runs).toBeGreaterThanOrEqual(results[0]!.runs);
});
