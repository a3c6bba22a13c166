import { afterEach, expect, it, vi } from 'vitest';
import { nodeBuiltin } from './node-builtin.ts';

afterEach(() => vi.unstubAllGlobals());

it('returns a module of Node', () => {
  const { basename } = nodeBuiltin<typeof import('node:path')>('node:path');
  expect(basename('a/b.txt')).toBe('b.txt');
});

it('names the module where there is no Node', () => {
  vi.stubGlobal('process', undefined);
  expect(() => nodeBuiltin('node:fs/promises')).toThrow(/node:fs\/promises is not available here/);
});

it('names the module where the host lists no built-in modules', () => {
  vi.stubGlobal('process', {});
  expect(() => nodeBuiltin('node:fs/promises')).toThrow(/node:fs\/promises is not available here/);
});

it('names a module that does not exist', () => {
  expect(() => nodeBuiltin('node:none')).toThrow(/node:none is not available here/);
});
