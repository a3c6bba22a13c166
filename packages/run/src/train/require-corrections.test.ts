import { fileURLToPath } from 'node:url';
import { loadModel } from '@rlp/models';
import { expect, it } from 'vitest';
import type { PreparedRun } from './prepare.ts';
import { requireCorrections } from './require-corrections.ts';

const folder = fileURLToPath(new URL('../../../../examples/models/stories260k', import.meta.url));

it('refuses a correction that a later stage cannot make', async () => {
  const model = await loadModel(folder);
  const check = (given: object) =>
    requireCorrections({ model, stages: ['sft', 'rl'], given } as unknown as PreparedRun);
  check({ backend: { lora: { rank: 4 } } });
  check({ algorithm: { backend: { lora: { adapter: 'some/folder' } } } });
  expect(() => check({ algorithm: { backend: { lora: { targets: ['nope'] } } } })).toThrow(
    'lora: no linear layer is named "nope"; this model has q_proj',
  );
  expect(() => check({ backend: { lora: { rank: 4096 } } })).toThrow(/lora\.rank is 4096, but/);
});
