import { readFileSync } from 'node:fs';
import { advantagePresets, lossPresets } from '@rlp/algorithms/presets';
import { expect, it } from 'vitest';

/** Options as they are written: `scale: 'none'`. */
function written(options: object): string {
  const fields = Object.entries(options).map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? `'${value}'` : value}`;
  });
  return fields.length === 0 ? '`{}`' : `\`${fields.join(', ')}\``;
}

it.each([
  ['docs/math/advantages.md', advantagePresets],
  ['docs/math/losses.md', lossPresets],
])('%s shows every preset as it is', (page, presets) => {
  const document = readFileSync(page, 'utf8');
  const table = /<!-- presets -->([\s\S]*)<!-- \/presets -->/.exec(document)?.[1] ?? '';
  const shown = [...table.matchAll(/^\| *(`[^|]*?) *\| *(\S+) *\| *(`[^|]*?`) *\|$/gm)].map((row) =>
    row.slice(1),
  );
  const all = Object.entries<Record<string, object>>(presets).flatMap(([project, parts]) =>
    Object.entries(parts).map(([part, options]) => [`\`${project}\``, part, written(options)]),
  );
  expect(shown).toEqual(all);
});
