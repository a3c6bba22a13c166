// Assembles kernel-text.ts into src/kernel/kernel-binary.ts. Run: npx tsx packages/tensor/scripts/build-kernel.ts
import { writeFileSync } from 'node:fs';
import loadWabt from 'wabt';
import { kernelText } from './kernel-text.ts';

const target = new URL('../src/kernel/kernel-binary.ts', import.meta.url);

const wabt = await loadWabt();
const { buffer } = wabt.parseWat('kernel.wat', kernelText(), { simd: true }).toBinary({});
const lines =
  Buffer.from(buffer)
    .toString('base64')
    .match(/.{1,100}/g) ?? [];
writeFileSync(
  target,
  `/** The kernel assembled by \`scripts/build-kernel.ts\`, in base64. A test assembles it again and compares. */
export const kernelBase64 =
${lines.map((line) => `  '${line}'`).join(' +\n')};
`,
);
