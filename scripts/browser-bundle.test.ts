import { builtinModules } from 'node:module';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** Entries that promise to run anywhere JavaScript does: main ones, and the subpaths of @rlp/rewards that are not Node's. */
const isomorphic = [
  ...['@rlp/core', '@rlp/env', '@rlp/algorithms', '@rlp/onnx', '@rlp/rewards'],
  ...['computers', 'external', 'instructions', 'judge', 'math', 'stock', 'verification'].map(
    (subpath) => `@rlp/rewards/${subpath}`,
  ),
];

/** What an application brings itself, in the build that suits where it runs. */
const brought = ['onnxruntime-node', 'mathjs'];

describe.each(isomorphic)('%s in a browser', (specifier) => {
  it('bundles without anything that only Node has', async () => {
    const { metafile, errors } = await build({
      stdin: { contents: `export * from '${specifier}';`, resolveDir: process.cwd() },
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
      conditions: ['@rlp/source', 'browser', 'import'],
      external: [...builtinModules, 'node:*', ...brought],
      logLevel: 'silent',
    });
    expect(errors).toEqual([]);
    const imports = Object.entries(metafile.inputs).flatMap(([file, input]) =>
      input.imports
        .filter(({ external, path }) => external && !brought.includes(path))
        .map(({ path }) => `${file} imports ${path}`),
    );
    expect(imports).toEqual([]);
  });
});
