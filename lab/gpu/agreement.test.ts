import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

// The memory of the host stands for that of a card.
it.skipIf(`${process.platform}-${process.arch}` !== 'linux-x64')(
  'a sampler on CUDA samples with the weights that a trainer beside it has made',
  async () => {
    const [script, model] = ['agreement.ts', '../../examples/models/stories260k'].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    );
    const args = ['--import', process.env.RLP_REGISTER ?? 'tsx', script!, 'cuda', model!];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: { ...process.env, NODE_OPTIONS: '', RLP_ONNX_CUDA: 'host' },
    });
    const { sameTokens, float16, ...differences } = JSON.parse(stdout) as Record<string, number | boolean>;
    expect(sameTokens).toBe(true);
    expect(float16).toBeGreaterThan(0);
    expect(float16).toBeLessThan(0.02);
    for (const difference of Object.values(differences)) expect(difference).toBeLessThan(1e-4);
  },
  30_000,
);
