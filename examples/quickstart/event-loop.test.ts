import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { policyLoss } from '@rlp/algorithms/loss';
import { createOnnxBackend } from '@rlp/backprop';
import type { TrainingSequence } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { expect, it, onTestFinished } from 'vitest';

const resolution = 5;
const loss = policyLoss({ proximal: 'current' });

/** A thread that does nothing. Its timers show the delay that the machine causes. */
async function idleThread() {
  const source = `
    const { monitorEventLoopDelay } = require('node:perf_hooks');
    const { parentPort } = require('node:worker_threads');
    const delays = monitorEventLoopDelay({ resolution: ${resolution} });
    parentPort.on('message', (message) => {
      if (message === 'start') { delays.reset(); delays.enable(); }
      else parentPort.postMessage(delays.percentile(99) / 1e6 - ${resolution});
    });`;
  const worker = new Worker(source, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  await new Promise((resolve) => worker.once('online', resolve));
  return {
    start: () => worker.postMessage('start'),
    lag: () =>
      new Promise<number>((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('stop');
      }),
  };
}

/** A policy of the size of the quickstart's, which is trained and sampled in one engine. */
async function policyIn(engine: Engine) {
  const tokenizer = characterTokenizer('0123456789+=,', { begin: '<s>', end: '</s>' });
  const config = parseModelConfig({
    ...{ model_type: 'llama', architectures: ['LlamaForCausalLM'], vocab_size: tokenizer.vocabularySize },
    ...{ hidden_size: 128, num_hidden_layers: 4, num_attention_heads: 4, intermediate_size: 352 },
    ...{ max_position_embeddings: 64, tie_word_embeddings: true },
  });
  const model = createModel({ config, tokenizer, seed: '0' });
  const backend = await createOnnxBackend({ engine, model, learningRate: 1e-4, tokensPerMicroBatch: 8192 });
  return { backend, sampler: await createOnnxSampler({ engine, model, maxSequences: 256 }) };
}

/** One iteration: samples 64 answers, scores them and learns from them. */
async function iterate(
  { backend, sampler }: Awaited<ReturnType<typeof policyIn>>,
  round: number,
): Promise<void> {
  const prompts = Array.from({ length: 8 }, (_, index) =>
    sampler.tokenizer.encode(`${10 + index}+${20 + round}=`),
  );
  const groups = await Promise.all(
    prompts.map((prompt, index) =>
      sampler.sample({ prompt, count: 8, maxTokens: 40, temperature: 1, seed: `${round}/${index}` }),
    ),
  );
  const sequences = groups.flatMap((group, index) =>
    group.map(({ tokens, behaviorLogprobs }, member): TrainingSequence => {
      const prompt = prompts[index]!;
      const onPrompt = prompt.map(() => 0);
      return {
        tokens: [...prompt, ...tokens],
        mask: [...onPrompt, ...tokens.map(() => 1)],
        weights: [...onPrompt, ...tokens.map(() => 1 / 2000)],
        columns: {
          behaviorLogprobs: [...onPrompt, ...behaviorLogprobs],
          advantages: [...onPrompt, ...tokens.map(() => member - 3.5)],
        },
      };
    }),
  );
  await backend.logprobs(sequences.map(({ tokens }) => tokens));
  const pass = backend.forwardBackward({ sequences }, loss);
  await backend.optimStep();
  await pass;
  await sampler.updateWeights(await backend.publish({ as: 'shared' }));
}

function worst({ max }: { readonly max: number }): number {
  return max / 1e6 - resolution;
}

it('stays free while a model of 0.8 million parameters trains and is sampled', async () => {
  const engine = await createEngine();
  onTestFinished(() => engine.close());
  const policy = await policyIn(engine);
  const idle = await idleThread();
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  // Graphs are built once, and code is compiled in the first iterations.
  for (let round = 0; round < 3; round++) await iterate(policy, round);
  const first = worst(delays);
  let lag = Number.POSITIVE_INFINITY;
  let limit = 0;
  for (let attempt = 0; attempt < 3 && lag >= limit; attempt++) {
    delays.reset();
    idle.start();
    const end = performance.now() + 1000;
    for (let round = 3; performance.now() < end; round++) await iterate(policy, round);
    lag = delays.percentile(99) / 1e6 - resolution;
    limit = 20 + (await idle.lag());
  }
  console.log(
    `lag of the event loop: p99 ${lag.toFixed(1)} ms, allowed here: ${limit.toFixed(1)} ms; at most ` +
      `${worst(delays).toFixed(1)} ms, and ${first.toFixed(1)} ms in the first iterations`,
  );
  expect(lag).toBeLessThan(limit);
}, 60_000);
