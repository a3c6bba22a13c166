import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

// The software Vulkan driver of Debian's chromium. Its loader must be on the library path when the process starts, so the test
// runs in a process of its own. For CUDA the memory of the host stands for that of a card.
const folder = '/usr/lib/chromium';
const driver = `${folder}/vk_swiftshader_icd.json`;
const providers = [
  {
    provider: 'webgpu',
    isHere: existsSync(driver),
    environment: { VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: folder },
  },
  {
    provider: 'cuda',
    isHere: `${process.platform}-${process.arch}` === 'linux-x64',
    environment: { RLP_ONNX_CUDA: 'host' },
  },
];
const available = providers.filter(({ isHere }) => isHere);
for (const { provider } of providers.filter(({ isHere }) => !isHere)) console.warn(`skipped: ${provider}`);

// Compiling shaders in software takes seconds, twice as long for a model twice as wide. By default, only test
// full training.
const trained = process.env.RLP_SLOW_TESTS ? ['undefined', '{ rank: 2 }'] : ['undefined'];

/**
 * Updates the same tiny model and its critic on both providers, in two micro-batches, and prints the results.
 *
 * Two updates use a loss on the policy, one a loss on values, and one the policy again.
 */
const script = (lora: string, provider: string) => `
  import { createOnnxBackend } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
  import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
  import { createEngine } from '@rlp/onnx/runtime';
  const tokenizer = characterTokenizer('abcdefgh');
  const config = parseModelConfig({
    model_type: 'llama', vocab_size: tokenizer.vocabularySize, hidden_size: 4, intermediate_size: 8, num_hidden_layers: 1,
    num_attention_heads: 2, num_key_value_heads: 1, max_position_embeddings: 32, rms_norm_eps: 1e-5, hidden_act: 'silu',
    tie_word_embeddings: true, initializer_range: 0.3,
  });
  const loss = {
    key: 'loss', columns: [], entropies: 'needed',
    compute: (ops, { logprobs, entropies }) => ({ tokenLosses: ops.sub(ops.neg(logprobs), ops.mul(entropies, ops.constant(0.1))) }),
  };
  const error = {
    key: 'error', columns: [], values: 'only',
    compute: (ops, { values }) => ({ tokenLosses: ops.square(ops.sub(values, ops.constant(1))) }),
  };
  const sequenceOf = (tokens) => ({
    tokens, mask: tokens.map((_, t) => Math.min(t, 1)), weights: tokens.map(() => 0.25), columns: {},
  });
  const sequences = [sequenceOf([1, 4, 4, 3, 5, 0, 1]), sequenceOf([3, 3, 2])];
  const reports = [];
  for (const executionProvider of ['cpu', '${provider}']) {
    const engine = await createEngine({ thread: 'inline', executionProvider, threads: 1 });
    const backend = await createOnnxBackend({
      engine, model: createModel({ config, tokenizer, seed: 'tiny' }), learningRate: 0.01, maxGradientNorm: 0.5,
      optimizer: { weightDecay: 0.1 }, tokensPerMicroBatch: 8, lora: ${lora},
      valueHead: { shape: [1, 4], data: Float32Array.from({ length: 4 }, (_, i) => Math.sin(i)) },
    });
    const losses = [];
    const norms = [];
    for (const step of [loss, loss, error, loss]) {
      losses.push((await backend.forwardBackward({ sequences }, step)).loss);
      norms.push((await backend.optimStep()).gradientNorm);
    }
    const [reference] = await backend.logprobs([sequences[0].tokens], { policy: 'reference' });
    const values = (await backend.values(sequences.map(({ tokens }) => tokens))).flatMap((row) => [...row]);
    await backend.publish({ as: 'shared' });
    const published = await engine.readStore('policy');
    const weights = [...await backend.getWeights()].map(([name, { data }]) => [...data, ...published.get(name).data]);
    reports.push({ losses, norms, values, reference: [...reference.logprobs], weights: weights.flat() });
    await backend.close();
    await engine.close();
  }
  console.log(JSON.stringify(reports));
`;

const cases = available.flatMap((each) =>
  (each.provider === 'webgpu' ? trained : ['undefined', '{ rank: 2 }']).map((lora) => ({ ...each, lora })),
);

it.each(cases)(
  '$provider trains as the CPU does, with weights staying on the device: $lora',
  async ({ provider, environment, lora }) => {
    const args = ['--conditions=@rlp/source', '--import', 'tsx', '--input-type=module'];
    const { stdout } = await promisify(execFile)(process.execPath, [...args, '-e', script(lora, provider)], {
      cwd: new URL('.', import.meta.url),
      env: { ...process.env, NODE_OPTIONS: '', ...environment },
    });
    const [cpu, device] = JSON.parse(stdout) as Record<string, number[]>[];
    for (const [part, expected] of Object.entries(cpu!)) {
      const close = expected.map((value) => expect.closeTo(value, 4));
      expect(device![part], part).toEqual(close);
    }
  },
  60_000,
);
