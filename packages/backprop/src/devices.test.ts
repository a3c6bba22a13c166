import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { trainedOn } from './testing/trained-on.ts';

type Report = Awaited<ReturnType<typeof trainedOn>>;

type Options = NonNullable<Parameters<typeof trainedOn>[1]>;

async function expectToTrainAsTheProcessor(report: Report, options: Options) {
  const digits = options.precision === 'mixed' ? 2 : 4;
  for (const [part, expected] of Object.entries(await trainedOn('cpu', options))) {
    const close = expected.map((value) => expect.closeTo(value, digits));
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
const mixed: Options = { precision: 'mixed' };
const trained: Options[] = process.env.RLP_SLOW_TESTS ? [{}, { lora: { rank: 2 } }] : [{}];

async function trainedOnWebGpu(options: Options): Promise<Report> {
  const module = JSON.stringify(new URL('./testing/trained-on.ts', import.meta.url).href);
  const script = `
    import { trainedOn } from ${module};
    console.log(JSON.stringify(await trainedOn('webgpu', ${JSON.stringify(options)})));
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
  return JSON.parse(stdout);
}

it.skipIf(!hasWebGpu).each(trained)(
  'webgpu trains as the CPU does, with weights staying on the device: %o',
  async (options) => expectToTrainAsTheProcessor(await trainedOnWebGpu(options), options),
  60_000,
);

it.skipIf(!hasWebGpu)(
  'says that a device has no float16, as the software driver has none',
  async () => {
    await expect(trainedOnWebGpu(mixed)).rejects.toThrow(
      "the device has no float16; use precision: 'float32' and weights: 'shared'",
    );
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

  it.each<Options>([{}, { lora: { rank: 2 } }, mixed])(
    'trains as the CPU does, with weights staying on the device: %o',
    async (options) => {
      vi.stubEnv('RLP_ONNX_CUDA', 'host');
      const report = await trainedOn('cuda', options);
      vi.unstubAllEnvs();
      await expectToTrainAsTheProcessor(report, options);
    },
  );
});
