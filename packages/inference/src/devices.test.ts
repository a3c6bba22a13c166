import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

// The software Vulkan driver of Debian's chromium. Its loader must be on the library path when the process starts, so the test
// runs in a process of its own. For CUDA the memory of the host stands for that of a card.
const folder = '/usr/lib/chromium';
const driver = `${folder}/vk_swiftshader_icd.json`;
// Compiling shaders in software takes six seconds, so by day only training runs on it; see devices.test.ts of @rlp/backprop.
const providers = [
  {
    provider: 'webgpu',
    isHere: existsSync(driver) && Boolean(process.env.RLP_SLOW_TESTS),
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

/** The same sampling and scoring on the processor and on another provider; prints what came of it. */
const script = (provider: string) => `
  import { createOnnxSampler } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
  import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
  import { createEngine } from '@rlp/onnx/runtime';
  const tokenizer = characterTokenizer('abcdefgh');
  const config = parseModelConfig({
    model_type: 'qwen2', vocab_size: tokenizer.vocabularySize, hidden_size: 8, intermediate_size: 12, num_hidden_layers: 2,
    num_attention_heads: 2, num_key_value_heads: 1, max_position_embeddings: 32, rms_norm_eps: 1e-5, hidden_act: 'silu',
    // The second layer sees three tokens.
    use_sliding_window: true, sliding_window: 3, max_window_layers: 1,
    tie_word_embeddings: true, initializer_range: 0.5,
  });
  const model = createModel({ config, tokenizer, seed: 'tiny' });
  const prompt = [1, 4, 4, 3];
  const reports = [];
  for (const executionProvider of ['cpu', '${provider}']) {
    const engine = await createEngine({ thread: 'inline', executionProvider, threads: 1 });
    const backend = await createOnnxSampler({ engine, model, contextLength: 16, maxSequences: 3 });
    // More members than rows. Then prompts of other lengths, and a filter, which draws on the host; compiling shaders takes long.
    const requests = [
      { prompt, count: 4, maxTokens: 6, seed: 'device' },
      { prompt: [2, 2], count: 1, maxTokens: 12, seed: 'long' },
      { prompt: [5, 6, 1], count: 1, maxTokens: 4, seed: 'filtered', topK: 3 },
    ].slice(0, ${provider === 'webgpu' ? 1 : 3});
    const completions = (await Promise.all(requests.map((request) => backend.sample(request)))).flat();
    const scores = await backend.scoreTokens(completions.slice(0, 3).map(({ tokens }) => ({ prompt, completion: tokens })));
    reports.push({
      tokens: completions.flatMap(({ tokens }) => tokens),
      logprobs: completions.flatMap(({ behaviorLogprobs }) => behaviorLogprobs),
      scores: scores.flatMap(({ logprobs }) => [...logprobs]),
      entropies: scores.flatMap(({ entropies }) => [...entropies]),
    });
    await backend.close();
    await engine.close();
  }
  console.log(JSON.stringify(reports));
`;

describe.each(available)('the $provider execution provider', ({ provider, environment }) => {
  it('samples and scores as the CPU does', async () => {
    const loader = ['--conditions=@rlp/source', '--import', process.env.RLP_REGISTER ?? 'tsx'];
    const program = ['--input-type=module', '-e', script(provider)];
    const { stdout } = await promisify(execFile)(process.execPath, [...loader, ...program], {
      cwd: new URL('.', import.meta.url),
      env: { ...process.env, NODE_OPTIONS: '', ...environment },
    });
    const [cpu, device] = JSON.parse(stdout) as Record<string, number[]>[];
    expect(device!.tokens).toEqual(cpu!.tokens);
    expect(cpu!.tokens!.length).toBeGreaterThan(15);
    for (const part of ['logprobs', 'scores', 'entropies']) {
      expect(device![part], part).toEqual(cpu![part]!.map((value) => expect.closeTo(value, 4)));
    }
  }, 60_000);
});
