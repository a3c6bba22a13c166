import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { expect, it } from 'vitest';
import { runtimeFolder } from './build.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
// Chromium's software adapter compiles shaders for half a minute.
const isWanted = existsSync(executablePath) && process.env.RLP_SLOW_TESTS !== undefined;
if (!isWanted) console.warn(`skipped: needs RLP_SLOW_TESTS and a browser at ${executablePath}`);

/** Samples, learns and samples again on a provider. */
const program = `
  import { createOnnxBackend } from '@rlp/backprop';
  import { createOnnxSampler } from '@rlp/inference';
  import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
  import { createEngine } from '@rlp/onnx/web';
  const tokenizer = characterTokenizer('abcdefgh');
  const config = parseModelConfig({
    model_type: 'llama', vocab_size: tokenizer.vocabularySize, hidden_size: 16, intermediate_size: 16, num_hidden_layers: 1,
    num_attention_heads: 2, num_key_value_heads: 1, max_position_embeddings: 32, rms_norm_eps: 1e-5, hidden_act: 'silu',
    tie_word_embeddings: true, initializer_range: 0.5,
  });
  const loss = { key: 'loss', columns: [], compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }) };
  const sequences = [[1, 4, 4, 3, 5], [3, 3, 2]].map((tokens) => (
    { tokens, mask: tokens.map((_, t) => Math.min(t, 1)), weights: tokens.map(() => 0.25), columns: {} }));
  globalThis.learn = async (executionProvider) => {
    const engine = await createEngine({ assets: location.origin + '/', executionProvider, threads: 1 });
    const model = createModel({ config, tokenizer, seed: 'tiny' });
    const backend = await createOnnxBackend({ engine, model, learningRate: 0.01, reference: 'none' });
    const sampler = await createOnnxSampler({ engine, model, maxSequences: 2, contextLength: 24 });
    const sample = async () =>
      (await sampler.sample({ prompt: [1, 2, 3], count: 3, maxTokens: 6, seed: 's' })).flatMap(({ tokens }) => tokens);
    const before = await sample();
    const losses = [];
    for (let update = 0; update < 3; update++) {
      losses.push((await backend.forwardBackward({ sequences }, loss)).loss);
      await backend.optimStep();
    }
    await sampler.updateWeights(await backend.publish({ as: 'shared' }));
    const after = await sample();
    await sampler.close();
    await backend.close();
    await engine.close();
    return { before, losses, after };
  };
`;

async function served(): Promise<Server> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname, loader: 'js' },
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', logLevel: 'silent' },
    conditions: ['@rlp/source', 'browser', 'import'],
  });
  const runtime = runtimeFolder();
  const server = createServer(({ url = '/' }, response) => {
    const file = join(runtime, url.slice(1).split('?')[0]!);
    if (url === '/page.js')
      return response.setHeader('content-type', 'text/javascript').end(outputFiles[0]!.text);
    if (url === '/' || !existsSync(file))
      return response
        .setHeader('content-type', 'text/html')
        .end('<script type="module" src="/page.js"></script>');
    const type = file.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
    return response.setHeader('content-type', type).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

interface Learned {
  readonly before: number[];
  readonly losses: number[];
  readonly after: number[];
}

it.skipIf(!isWanted)(
  'a page learns on WebGPU what it learns in WebAssembly',
  { timeout: 180_000 },
  async () => {
    const server = await served();
    const args = ['--no-sandbox', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
    const browser = await chromium.launch({ executablePath, args });
    try {
      const page = await browser.newPage();
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}`);
      await page.waitForFunction('globalThis.learn');
      const learned = (provider: string) => page.evaluate(`learn('${provider}')`) as Promise<Learned>;
      const [expected, found] = [await learned('cpu'), await learned('webgpu')];
      expect(found.before).toEqual(expected.before);
      expect(found.losses).toEqual(expected.losses.map((loss) => expect.closeTo(loss, 4)));
      expect(found.after).toEqual(expected.after);
      expect(found.after).not.toEqual(found.before);
    } finally {
      await browser.close();
      server.close();
    }
  },
);
