// Assembles src/kernel/kernel.wat into src/kernel/kernel-binary.ts. Run: npx tsx packages/rewards/scripts/build-kernel.ts
import { readFileSync, writeFileSync } from 'node:fs';
import loadWabt from 'wabt';

const source = new URL('../src/kernel/kernel.wat', import.meta.url);
const target = new URL('../src/kernel/kernel-binary.ts', import.meta.url);

const wabt = await loadWabt();
const { buffer } = wabt.parseWat('kernel.wat', readFileSync(source, 'utf8'), { simd: true }).toBinary({});
const lines =
  Buffer.from(buffer)
    .toString('base64')
    .match(/.{1,100}/g) ?? [];
writeFileSync(
  target,
  `/** \`kernel.wat\` assembled by \`scripts/build-kernel.ts\`, in base64; a test assembles it again and compares. */
export const kernelBase64 =
${lines.map((line) => `  '${line}'`).join(' +\n')};
`,
);
