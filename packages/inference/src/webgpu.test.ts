import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

// The software Vulkan driver of Debian's chromium. Its loader must be on the library path when the process starts, so the test
// runs in a process of its own.
const folder = '/usr/lib/chromium';
const driver = `${folder}/vk_swiftshader_icd.json`;
const available = existsSync(driver);
if (!available) console.warn(`skipped: no software Vulkan driver at ${driver}`);

/** The same sampling and scoring on both providers; prints what came of it. */
const script = `
  import { createOnnxSampler } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
  import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
  import { createEngine } from '@rlp/onnx/runtime';
  const tokenizer = characterTokenizer('abcdefgh');
  const config = parseModelConfig({
    model_type: 'llama', vocab_size: tokenizer.vocabularySize, hidden_size: 8, intermediate_size: 12, num_hidden_layers: 1,
    num_attention_heads: 2, num_key_value_heads: 1, max_position_embeddings: 32, rms_norm_eps: 1e-5, hidden_act: 'silu',
    tie_word_embeddings: true, initializer_range: 0.5,
  });
  const model = createModel({ config, tokenizer, seed: 'tiny' });
  const prompt = [1, 4, 4, 3];
  const reports = [];
  for (const executionProvider of ['cpu', 'webgpu']) {
    const engine = await createEngine({ thread: 'inline', executionProvider, threads: 1 });
    const backend = await createOnnxSampler({ engine, model, operators: 'standard', contextLength: 16 });
    const completions = await backend.sample({ prompt, count: 3, maxTokens: 6, seed: 'device' });
    const scores = await backend.scoreTokens(completions.map(({ tokens }) => ({ prompt, completion: tokens })));
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

describe.skipIf(!available)('the webgpu execution provider', () => {
  it('samples and scores as the CPU does', async () => {
    const args = ['--conditions=@rlp/source', '--import', 'tsx', '--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: new URL('.', import.meta.url),
      env: { ...process.env, NODE_OPTIONS: '', VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: folder },
    });
    const [cpu, device] = JSON.parse(stdout) as Record<string, number[]>[];
    expect(device!.tokens).toEqual(cpu!.tokens);
    expect(cpu!.tokens!.length).toBeGreaterThan(9);
    for (const part of ['logprobs', 'scores', 'entropies']) {
      expect(device![part], part).toEqual(cpu![part]!.map((value) => expect.closeTo(value, 4)));
    }
  }, 60_000);
});
