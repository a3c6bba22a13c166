// Assembles src/runtime/stores/kernels.wat into src/runtime/stores/kernels-binary.ts. Run: npx tsx
// packages/onnx/scripts/build-kernels.ts
import { readFileSync, writeFileSync } from 'node:fs';
import loadWabt from 'wabt';

const source = new URL('../src/runtime/stores/kernels.wat', import.meta.url);
const target = new URL('../src/runtime/stores/kernels-binary.ts', import.meta.url);

const wabt = await loadWabt();
const parsed = wabt.parseWat('kernels.wat', readFileSync(source, 'utf8'), { simd: true });
const { buffer } = parsed.toBinary({});
const lines =
  Buffer.from(buffer)
    .toString('base64')
    .match(/.{1,100}/g) ?? [];
writeFileSync(
  target,
  `/** \`kernels.wat\` assembled by \`scripts/build-kernels.ts\`, in base64; a test assembles it again and compares. */
export const kernelsBase64 =
${lines.map((line) => `  '${line}'`).join(' +\n')};
`,
);
