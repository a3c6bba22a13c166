import { RandomStream } from '@rlp/core';
import { expect, it } from 'vitest';
import { codeProblems } from './code-problems.ts';

it.each([...codeProblems.entries()])(
  'problem %i has a program that agrees with the second way',
  (kind, draw) => {
    for (let at = 0; at < 20; at++) {
      const { name, solution, examples } = draw(RandomStream.named('code', kind, at));
      const program = new Function(`${solution}; return ${name};`)() as (
        ...args: readonly unknown[]
      ) => unknown;
      for (const { args, result } of examples) expect(program(...structuredClone(args))).toEqual(result);
      expect(examples.every(({ result }) => result !== undefined)).toBe(true);
    }
  },
);
