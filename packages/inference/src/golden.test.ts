import { loadModel } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { InferenceModule } from './inference-module.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import { goldenCases, goldenFolder, goldenModels } from './testing/tiny-models.ts';

/** Below this lead of the best token over the next, float32 may choose the other: golden numbers are float64. */
const CLEAR_LEAD = 5e-4;

let engine: Engine;

beforeAll(async () => {
  engine = await createEngine({ threads: 1 });
});
afterAll(() => engine?.close());

describe.each(goldenModels())('%s', (name) => {
  let inference: InferenceModule;

  beforeAll(async () => {
    const model = await loadModel(goldenFolder(name));
    inference = await InferenceModule.create({ backend: createOnnxSampler({ engine, model, store: name }) });
  });
  afterAll(() => inference.close());

  it('continues greedily as the golden file says, all prompts in one batch', async () => {
    const cases = goldenCases(name).filter(({ greedy_min_top2_gap }) => greedy_min_top2_gap > CLEAR_LEAD);
    // An end token ends a completion here; the golden continuation runs on, so compare up to it.
    const room = inference.contextLength;
    const fitting = cases.filter(({ input_ids }) => input_ids.length + 64 <= room);
    const results = await inference.generate(
      fitting.map(({ input_ids }) => input_ids),
      { temperature: 0, maxTokens: 64 },
    );
    expect(results.length).toBeGreaterThan(2);
    for (const [index, { tokens, stopReason }] of results.entries()) {
      expect(tokens).toEqual(fitting[index]!.greedy_ids.slice(0, tokens.length));
      if (stopReason === 'length') expect(tokens).toHaveLength(64);
    }
  });

  it('scores text as the golden file says', async () => {
    const cases = goldenCases(name);
    const scores = await inference.scoreTokens(
      cases.map(({ input_ids }) => ({ prompt: input_ids.slice(0, 1), completion: input_ids.slice(1) })),
    );
    for (const [index, { token_logprobs }] of cases.entries()) {
      const worst = Math.max(
        ...token_logprobs.map((logprob, t) => Math.abs(logprob - scores[index]!.logprobs[t]!)),
      );
      expect(worst).toBeLessThan(2e-4);
    }
  });

  it('reports the logprobs of sampled tokens that scoring gives', async () => {
    const results = await inference.generate(['Once upon a time'], {
      count: 8,
      maxTokens: 60,
      topP: 0.95,
      seed: 'golden',
    });
    const logprobs = await inference.getLogprobs(
      results.map(({ promptTokens }) => promptTokens),
      results.map(({ tokens }) => tokens),
    );
    for (const [index, result] of results.entries()) {
      const worst = Math.max(
        ...result.logprobs.map((logprob, t) => Math.abs(logprob - logprobs[index]![t]!)),
      );
      expect(worst).toBeLessThan(1e-4);
    }
    expect(new Set(results.map(({ text }) => text)).size).toBeGreaterThan(1);
  });

  it('continues the text of the prompt, spaces included', async () => {
    const text = 'Once upon a time';
    const [{ text: continuation, tokens, promptTokens }] = (await inference.generate([text], {
      maxTokens: 20,
      seed: 'text',
      stopTokens: [],
    })) as [Awaited<ReturnType<typeof inference.generate>>[number]];
    const whole = inference.tokenizer.decode([...promptTokens, ...tokens]);
    expect((text + continuation).trim()).toBe(whole.trim());
  });
});
