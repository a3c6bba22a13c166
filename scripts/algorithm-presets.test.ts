import { readFileSync } from 'node:fs';
import { algorithmPresets } from '@rlp/algorithms/presets';
import { expect, it } from 'vitest';

/** Options as they are written: `loss: { clipLow: 0.2 }`. */
function written(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? `'${value}'` : String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${written(field)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** The outermost braces say nothing. */
const bare = (options: object) => written(options).replace(/^\{ (.*) \}$/, '$1');

it('docs/math/presets.md shows every preset as it is', () => {
  const document = readFileSync('docs/math/presets.md', 'utf8');
  const table = /<!-- presets -->([\s\S]*)<!-- \/presets -->/.exec(document)?.[1] ?? '';
  const shown = [...table.matchAll(/^\| *(\S+) *\| *`(\S+)` *\| *`(.*)` *\|$/gm)].map((row) =>
    row.slice(1, 4).map((cell) => cell.trim()),
  );
  const presets = Object.entries(algorithmPresets).flatMap(([algorithm, projects]) =>
    Object.entries(projects).map(([project, options]) => [algorithm, project, bare(options)]),
  );
  expect(shown).toEqual(presets);
});
