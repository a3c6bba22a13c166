import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { trainedOn } from './testing/trained-on.ts';

type Report = Awaited<ReturnType<typeof trainedOn>>;

async function expectToTrainAsTheProcessor(report: Report, lora: { rank: number } | undefined) {
  for (const [part, expected] of Object.entries(await trainedOn('cpu', { lora }))) {
    const close = expected.map((value) => expect.closeTo(value, 4));
    expect(report[part], part).toEqual(close);
  }
}

// The software Vulkan driver of Debian's chromium. Its loader must be on the library path when the process starts, so the test
// runs in a process of its own.
const folder = '/usr/lib/chromium';
const driver = `${folder}/vk_swiftshader_icd.json`;
const hasWebGpu = existsSync(driver);
// For CUDA the memory of the host stands for that of a card.
const hasCuda = `${process.platform}-${process.arch}` === 'linux-x64';
if (!hasWebGpu) console.warn('skipped: webgpu');
if (!hasCuda) console.warn('skipped: cuda');

// Compiling shaders in software takes seconds, twice as long for a model twice as wide. By default, only test
// full training.
const trained = process.env.RLP_SLOW_TESTS ? [undefined, { rank: 2 }] : [undefined];

it.skipIf(!hasWebGpu).each(trained)(
  'webgpu trains as the CPU does, with weights staying on the device: %o',
  async (lora) => {
    const module = JSON.stringify(new URL('./testing/trained-on.ts', import.meta.url).href);
    const script = `
      import { trainedOn } from ${module};
      console.log(JSON.stringify(await trainedOn('webgpu', ${JSON.stringify({ lora })})));
    `;
    const args = [
      '--conditions=@rlp/source',
      '--import',
      process.env.RLP_REGISTER ?? 'tsx',
      '--input-type=module',
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [...args, '-e', script], {
      cwd: new URL('.', import.meta.url),
      env: { ...process.env, NODE_OPTIONS: '', VK_ICD_FILENAMES: driver, LD_LIBRARY_PATH: folder },
    });
    await expectToTrainAsTheProcessor(JSON.parse(stdout), lora);
  },
  60_000,
);

describe.skipIf(!hasCuda)('cuda', () => {
  it.each([
    [
      { optimizer: { kind: 'adamw-8bit' } },
      "optimizer 'adamw-8bit' needs the provider cpu, got cuda; use 'adamw'",
    ],
    [{ lora: { rank: 2, base: 'int8' } }, "lora.base 'int8' needs the provider cpu, got cuda; use 'float32'"],
    [{ lora: { rank: 2, dropout: 0.1 } }, 'lora.dropout 0.1 needs the provider cpu, got cuda; use 0'],
  ] as const)('refuses %o', async (options, message) => {
    vi.stubEnv('RLP_ONNX_CUDA', 'host');
    await expect(trainedOn('cuda', options)).rejects.toThrow(message);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([undefined, { rank: 2 }])(
    'trains as the CPU does, with weights staying on the device: %o',
    async (lora) => {
      vi.stubEnv('RLP_ONNX_CUDA', 'host');
      const report = await trainedOn('cuda', { lora });
      vi.unstubAllEnvs();
      await expectToTrainAsTheProcessor(report, lora);
    },
  );
});
