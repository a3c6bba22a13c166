import { expect, it } from 'vitest';
import loadWabt from 'wabt';
import { kernelText } from '../../scripts/kernel-text.ts';
import { kernelBase64 } from './kernel-binary.ts';

it('is what kernel-text.ts assembles to', async () => {
  const wabt = await loadWabt();
  const { buffer } = wabt.parseWat('kernel.wat', kernelText(), { simd: true }).toBinary({});
  expect(kernelBase64).toBe(Buffer.from(buffer).toString('base64'));
});
