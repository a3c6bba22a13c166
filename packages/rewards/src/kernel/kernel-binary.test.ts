import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import loadWabt from 'wabt';
import { kernelBase64 } from './kernel-binary.ts';

it('is what kernel.wat assembles to', async () => {
  const wabt = await loadWabt();
  const source = readFileSync(new URL('./kernel.wat', import.meta.url), 'utf8');
  const { buffer } = wabt.parseWat('kernel.wat', source, { simd: true }).toBinary({});
  expect(kernelBase64).toBe(Buffer.from(buffer).toString('base64'));
});
