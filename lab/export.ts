/**
 * Runs exported GGUF files in llama.cpp and compares them with rlp.
 *
 *     npm install --prefix DIR node-llama-cpp
 *     tsx --conditions=@rlp/source lab/export.ts DIR
 *
 * Prints for each model whether the tokens of the prompt and the greedy tokens are equal, and how far the probability of the first
 * token is off. Ends with 1 if tokens differ.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createOnnxSampler } from '@rlp/inference';
import { byteTokenizer, createModel, type LanguageModel, loadModel, parseModelConfig } from '@rlp/models';
import { exportGguf } from '@rlp/models/export';
import { createEngine } from '@rlp/onnx/runtime';

/** The part of node-llama-cpp that is used. */
interface LlamaModule {
  readonly getLlama: (options: object) => Promise<{ loadModel(options: object): Promise<LlamaModel> }>;
}
interface LlamaModel {
  readonly tokens: { readonly shouldPrependBosToken: boolean; readonly bos: number };
  tokenize(text: string, special: boolean): readonly number[];
  createContext(options: object): Promise<{ getSequence(): LlamaSequence; dispose(): Promise<void> }>;
  dispose(): Promise<void>;
}
interface LlamaSequence {
  controlledEvaluate(
    input: readonly unknown[],
  ): Promise<readonly { readonly next: { token: number; probabilities: Map<number, number> } }[]>;
}

const [installed] = process.argv.slice(2);
if (installed === undefined) throw new Error('expected the folder in which node-llama-cpp is installed');
const entry = createRequire(join(resolve(installed), 'index.js')).resolve('node-llama-cpp');
const { getLlama } = (await import(pathToFileURL(entry).href)) as LlamaModule;
const llama = await getLlama({ gpu: false, build: 'never', maxThreads: 1 });
const engine = await createEngine({ threads: 1 });
const out = await mkdtemp(join(tmpdir(), 'rlp-export-'));
const text = 'Once upon a time, there was a little';
const count = 24;

const shape = { hidden_size: 64, intermediate_size: 96, num_hidden_layers: 3, num_attention_heads: 4 };
const random = (name: string, json: Readonly<Record<string, unknown>>): LanguageModel => {
  const tokenizer = byteTokenizer({ begin: '<s>', end: '</s>' });
  const sizes = {
    vocab_size: tokenizer.vocabularySize,
    max_position_embeddings: 256,
    initializer_range: 0.2,
  };
  const config = parseModelConfig(
    { ...shape, num_key_value_heads: 2, rms_norm_eps: 1e-6, ...sizes, ...json },
    name,
  );
  return createModel({ config, tokenizer, seed: name });
};
const scaled = (rope_scaling: object) => ({ model_type: 'llama', rope_theta: 10_000, rope_scaling });
const models: Readonly<Record<string, LanguageModel>> = {
  stories260k: await loadModel(fileURLToPath(new URL('../examples/models/stories260k', import.meta.url))),
  qwen2: random('qwen2', { model_type: 'qwen2', tie_word_embeddings: true }),
  qwen3: random('qwen3', { model_type: 'qwen3', head_dim: 32, tie_word_embeddings: false }),
  mistral: random('mistral', { model_type: 'mistral', sliding_window: null }),
  linear: random('linear', scaled({ rope_type: 'linear', factor: 2 })),
  yarn: random('yarn', scaled({ rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 })),
  llama3: random(
    'llama3',
    scaled({
      ...{ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
      original_max_position_embeddings: 64,
    }),
  ),
};

let failed = 0;
for (const [name, model] of Object.entries(models)) {
  const sampler = await createOnnxSampler({ engine, model, store: name });
  const prompt = model.tokenizer.encode(text);
  const [ours] = await sampler.sample({ prompt, count: 1, temperature: 0, maxTokens: count, seed: 'x' });
  for (const dtype of ['F32', 'F16', 'Q8_0'] as const) {
    const modelPath = await exportGguf(join(out, `${name}-${dtype}`), model, { dtype, name });
    const loaded = await llama.loadModel({ modelPath, gpuLayers: 0 });
    const context = await loaded.createContext({ contextSize: 256, sequences: 1, threads: 1 });
    const sequence = context.getSequence();
    const { bos, shouldPrependBosToken } = loaded.tokens;
    const theirs = [...(shouldPrependBosToken ? [bos] : []), ...loaded.tokenize(text, false)];
    const asking = { generateNext: { token: true, probabilities: true, options: { temperature: 0 } } };
    let input: readonly unknown[] = theirs.map((token, at) =>
      at === theirs.length - 1 ? [token, asking] : token,
    );
    const tokens: number[] = [];
    let first = 0;
    while (tokens.length < ours!.tokens.length) {
      const { next } = (await sequence.controlledEvaluate(input)).at(-1)!;
      if (tokens.length === 0) first = next.probabilities.get(ours!.tokens[0]!) ?? 0;
      tokens.push(next.token);
      input = [[next.token, asking]];
    }
    const agreed = tokens.findIndex((token, at) => token !== ours!.tokens[at]);
    const isSame = theirs.join() === prompt.join();
    const off = Math.abs(first - Math.exp(ours!.behaviorLogprobs[0]!));
    const equal = agreed < 0 ? 'all' : `the first ${agreed}`;
    console.log(
      `${name} ${dtype}: prompt ${isSame ? 'equal' : 'different'}, ${equal} of ${tokens.length} greedy tokens equal, probability off by ${off.toExponential(1)}`,
    );
    // Rounded weights may choose another token.
    if (!isSame || (agreed >= 0 && dtype === 'F32')) failed++;
    await context.dispose();
    await loaded.dispose();
  }
  await sampler.close();
}
await engine.close();
await rm(out, { recursive: true });
process.exit(failed === 0 ? 0 : 1);
