/** Prints what `pnpm coverage` measured as a Markdown table, one row per package. */
import { readFileSync } from 'node:fs';

const files = Object.entries(JSON.parse(readFileSync('coverage/coverage-summary.json', 'utf8')));
const kinds = ['lines', 'branches', 'functions'];
const totals = new Map();
for (const [file, measured] of files) {
  const name =
    /[\\/]packages[\\/]([^\\/]+)[\\/]src[\\/]/.exec(file)?.[1] ?? (file === 'total' ? 'all' : undefined);
  if (name === undefined) continue;
  const sums = totals.get(name) ?? kinds.map(() => ({ covered: 0, total: 0 }));
  for (const [at, kind] of kinds.entries()) {
    sums[at].covered += measured[kind].covered;
    sums[at].total += measured[kind].total;
  }
  totals.set(name, sums);
}
console.log(`| package | ${kinds.join(' | ')} |\n| --- | --: | --: | --: |`);
for (const [name, sums] of totals) {
  const cells = sums.map(({ covered, total }) =>
    total === 0 ? '–' : `${((100 * covered) / total).toFixed(1)} %`,
  );
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
