import { expect, it } from 'vitest';
import { loaderFlags } from './loader-flags.ts';

it.each([
  [[], []],
  [
    ['--require', '/a/preflight.cjs', '--import', 'file:///a/loader.mjs'],
    ['--require', '/a/preflight.cjs', '--import', 'file:///a/loader.mjs'],
  ],
  [
    ['--import=tsx', '--inspect=9229', '-r', './a.cjs', '--input-type=module', '-e', 'code'],
    ['--import=tsx', '-r', './a.cjs'],
  ],
  [
    ['--max-old-space-size=99', '--experimental-strip-types', '-C', 'own', '--importance=3'],
    ['--experimental-strip-types', '-C', 'own'],
  ],
])('keeps what loads modules: %j', (flags, kept) => {
  expect(loaderFlags(flags)).toEqual(kept);
});
