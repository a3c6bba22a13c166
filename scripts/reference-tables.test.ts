import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { bareSchemas, type JsonSchema } from './options/json-schemas.ts';
import { filesIn, isTest } from './workspace.ts';

const options = readFileSync('docs/reference/options.md', 'utf8');

/** Rows of the table under a heading, without its header. */
function rowsUnder(heading: string): string[][] {
  const section = options.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const plain = (text: string) => text.replaceAll('`', '');

it('the options of algorithms have the defaults of their schema', () => {
  const { schema } = bareSchemas().find(({ type }) => type === 'GrpoOptions')!;
  const at = (path: string) =>
    path.split('.').reduce<JsonSchema | undefined>((inside, key) => inside?.properties?.[key], schema);
  const rows = rowsUnder('Algorithms');
  expect(rows.length).toBeGreaterThan(8);
  for (const [names = '', defaults = ''] of rows) {
    const values = plain(defaults).split(', ');
    for (const [k, name] of plain(names).split(', ').entries()) {
      const option = at(name);
      expect(option, name).toBeDefined();
      // Bounds whose default depends on another option have none in the schema.
      if (option?.default === undefined) continue;
      const { default: value } = option;
      expect(values[k], name).toBe(typeof value === 'string' ? `'${value}'` : String(value));
    }
  }
});

it.each([
  ['Training backend', 'packages/backprop/src/backend-options.ts'],
  ['Sampler', 'packages/inference/src/onnx-sampler-options.ts'],
])('the options of the %s have the defaults that the source states', (heading, path) => {
  const source = readFileSync(path, 'utf8');
  const rows = rowsUnder(heading);
  expect(rows.length).toBeGreaterThan(1);
  for (const [name = '', fallback = ''] of rows) {
    const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${plain(name)}:`).exec(source)?.[1];
    expect(comment, name).toBeDefined();
    if (/^(`'.*'`|[0-9]+)$/.test(fallback)) {
      expect(plain(comment!).replaceAll(/[\s*]+/g, ' '), name).toContain(`Default ${plain(fallback)}.`);
    }
  }
});

/** Names such as `reward/mean`. */
const metric =
  /['`]((?:reward|logprobs|groups|trajectories|response|update|tokens|loss|clip|value|gradient|learning-rate|entropy|ratio|kl|gap|staleness|time|monitor)\/[a-z-]+)['`]/g;
const metricsIn = (text: string) => new Set([...text.matchAll(metric)].map(([, name]) => name!));

it('docs/metrics.md names the metrics that the loops report, and no others', () => {
  const known = [...metricsIn(readFileSync('packages/core/src/metrics.ts', 'utf8'))].sort();
  const reported = filesIn('packages/algorithms/src', '.ts')
    .filter((path) => !isTest(path))
    .flatMap((path) => [...metricsIn(readFileSync(path, 'utf8').replaceAll(/\/\*\*[\s\S]*?\*\//g, ''))]);
  expect(known.length).toBeGreaterThan(40);
  expect([...metricsIn(readFileSync('docs/metrics.md', 'utf8'))].sort()).toEqual(known);
  expect([...new Set(reported)].filter((name) => !known.includes(name))).toEqual([]);
});
