import { builtinModules } from 'node:module';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** Packages whose main entry promises to run anywhere JavaScript does. */
const isomorphic = ['@rlp/core', '@rlp/env', '@rlp/rewards', '@rlp/algorithms', '@rlp/onnx'];

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
      external: [...builtinModules, 'node:*', 'onnxruntime-node'],
      logLevel: 'silent',
    });
    expect(errors).toEqual([]);
    const imports = Object.entries(metafile.inputs).flatMap(([file, input]) =>
      input.imports.filter(({ external }) => external).map(({ path }) => `${file} imports ${path}`),
    );
    expect(imports).toEqual([]);
  });
});
