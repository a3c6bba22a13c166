import { expect, it } from 'vitest';
import { benchArguments } from './arguments.ts';

it.each([
  [['--shapes', 'M'], "Unknown option '--shapes'"],
  [['--rounds', 'many'], 'rounds'],
  [['speed'], 'names'],
])('refuses %o', (args, issue) => {
  expect(() => benchArguments(args)).toThrow(
    expect.objectContaining({ issues: [expect.stringContaining(issue)] }),
  );
});

it('measures every compared bench where none is named', () => {
  const { options } = benchArguments(['--shape', 'S,M']);
  expect(options).toMatchObject({
    names: ['train-step', 'generate', 'iteration'],
    shapes: ['S', 'M'],
    rounds: 3,
  });
});
