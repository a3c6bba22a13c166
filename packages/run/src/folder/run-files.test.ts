import { expect, it } from 'vitest';
import { runFiles } from './run-files.ts';

it('places all files of a run in its folder', () => {
  const paths = Object.values(runFiles('runs/first'));
  expect(new Set(paths).size).toBe(8);
  expect(paths.every((path) => path.startsWith('runs/first/'))).toBe(true);
});
