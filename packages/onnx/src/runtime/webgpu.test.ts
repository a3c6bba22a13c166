import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { createEngine, programUrl } from '../runtime.ts';
import type { Device } from './testing/device.program.ts';
import { runScript } from './testing/run-script.ts';

// Software Vulkan driver of Debian's chromium. Its loader must be on the library path when the process
// starts. The test therefore runs in a separate process, which also contains crashes of the driver.
const folder = '/usr/lib/chromium';
const driver = `${folder}/vk_swiftshader_icd.json`;
const available = existsSync(driver);
if (!available) console.warn(`skipped: no software Vulkan driver at ${driver}`);

const script = (thread: 'inline' | 'worker') => `
  import { createEngine } from ${JSON.stringify(programUrl(import.meta.url, '../runtime').href)};
  const timeouts = { startMs: 15_000, requestMs: 10_000, callMs: 10_000, closeMs: 2_000 };
  const engine = await createEngine({ thread: '${thread}', executionProvider: 'webgpu', threads: 1, timeouts });
  await engine.createStore({ name: 'policy', parameters: [{ name: 'w', shape: [2, 3] }], slots: ['moment1'] });
  const device = await engine.start({ url: new URL(${JSON.stringify(programUrl(import.meta.url, './testing/device.program').href)}) }, {});
  const zeros = await device.call('halve', 1);
  const data = Float32Array.of(8, 16, 24, 32, 40, 48);
  await engine.writeStore('policy', new Map([['w', { shape: [2, 3], data }]]));
  const report = {
    zeros,
    halved: await device.call('halve', 3),
    downloaded: await device.call('download'),
    views: await device.call('views'),
    stored: [...(await engine.readStore('policy')).get('w').data],
    moment: [...(await engine.readStore('policy', 'moment1')).get('w').data],
  };
  await engine.deleteStore('policy');
  await engine.close();
  console.log(JSON.stringify(report));
`;

describe.skipIf(!available)('the webgpu execution provider', () => {
  it.each(['inline', 'worker'] as const)(
    'keeps parameters on the device between updates (%s)',
    async (thread) => {
      const { stdout } = await runScript(script(thread), {
        VK_ICD_FILENAMES: driver,
        LD_LIBRARY_PATH: folder,
      });
      const zeros = [0, 0, 0, 0, 0, 0];
      expect(JSON.parse(stdout)).toEqual({
        zeros: { residency: 'device', locations: ['cpu', 'gpu-buffer'], values: zeros },
        halved: {
          residency: 'device',
          locations: ['gpu-buffer', 'gpu-buffer', 'gpu-buffer', 'gpu-buffer'],
          values: [1, 2, 3, 4, 5, 6],
        },
        downloaded: { location: 'cpu', values: [3, 6, 9, 12, 15, 18], given: [3, 6, 9, 12, 15, 18] },
        views: ['EngineError', 'EngineError', 'EngineError', 'EngineError'],
        stored: [1, 2, 3, 4, 5, 6],
        moment: zeros,
      });
    },
  );
});

describe('replace on the host', () => {
  it('copies, so that the same program runs there', async () => {
    const engine = await createEngine({ thread: 'inline', threads: 1 });
    await engine.createStore({ name: 'policy', parameters: [{ name: 'w', shape: [2, 3] }] });
    const data = Float32Array.of(8, 16, 24, 32, 40, 48);
    await engine.writeStore('policy', new Map([['w', { shape: [2, 3], data }]]));
    const program = await engine.start<Device>(
      { url: programUrl(import.meta.url, './testing/device.program') },
      {},
    );
    expect(await program.call('halve', 3)).toEqual({
      residency: 'host',
      locations: ['cpu', 'cpu', 'cpu', 'cpu'],
      values: [1, 2, 3, 4, 5, 6],
    });
    await engine.close();
  });
});
