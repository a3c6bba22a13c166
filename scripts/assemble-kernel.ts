// Assembles FILE.wat into FILE-binary.ts beside it. Run: npx tsx scripts/assemble-kernel.ts packages/models/src/kernel/kernel.wat
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import loadWabt from 'wabt';

const [source] = process.argv.slice(2);
if (!source?.endsWith('.wat')) throw new Error('usage: assemble-kernel.ts FILE.wat');
const name = basename(source, '.wat');
const wabt = await loadWabt();
const { buffer } = wabt.parseWat(basename(source), readFileSync(source, 'utf8'), { simd: true }).toBinary({});
const lines =
  Buffer.from(buffer)
    .toString('base64')
    .match(/.{1,100}/g) ?? [];
writeFileSync(
  source.replace(/\.wat$/, '-binary.ts'),
  `/** \`${name}.wat\` assembled by \`scripts/assemble-kernel.ts\`, in base64; a test assembles it again and compares. */
export const ${name}Base64 =
${lines.map((line) => `  '${line}'`).join(' +\n')};
`,
);
