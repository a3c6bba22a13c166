import { readFileSync } from 'node:fs';
import { advantagePresets } from '@rlp/algorithms';
import { expect, it } from 'vitest';

/** Options as they are written: `scale: 'none'`. */
function written(options: object): string {
  const fields = Object.entries(options).map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? `'${value}'` : value}`;
  });
  return fields.length === 0 ? '`{}`' : `\`${fields.join(', ')}\``;
}

it('docs/math/advantages.md shows every preset as it is', () => {
  const document = readFileSync('docs/math/advantages.md', 'utf8');
  const table = /<!-- presets -->([\s\S]*)<!-- \/presets -->/.exec(document)?.[1] ?? '';
  const shown = [...table.matchAll(/^\| *(`[^|]*?) *\| *(\S+) *\| *(`[^|]*?`) *\|$/gm)].map((row) =>
    row.slice(1),
  );
  const presets = Object.entries(advantagePresets).flatMap(([project, estimators]) =>
    Object.entries(estimators).map(([estimator, options]) => [`\`${project}\``, estimator, written(options)]),
  );
  expect(shown).toEqual(presets);
});
