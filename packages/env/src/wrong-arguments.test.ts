import { RlpError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { environmentFromDefinition } from './environment-from-definition.ts';
import { folderTools } from './folder.ts';
import { withLimits, withMemory, withRetries, withUser, withWorld } from './index.ts';
import { isReasoningAnswer } from './reasoning/index.ts';
import { createSqlWorld } from './sql.ts';
import { frozenLakeMoves, libraryDeskMember, mastermindPegs, wordleMarks } from './stock/index.ts';

type Call = (...args: unknown[]) => unknown;
const layers = { withLimits, withMemory, withRetries, withUser, withWorld } as unknown as Readonly<
  Record<string, Call>
>;
const functions = {
  ...{ createSqlWorld, folderTools, isReasoningAnswer },
  ...{ frozenLakeMoves, libraryDeskMember, mastermindPegs, wordleMarks },
} as unknown as Readonly<Record<string, Call>>;

const environment = { reset: String, buildPrompt: String, updateState: String, isTerminal: Boolean };
const lake = { cell: [0, 0], rows: ['SG'], successRate: 1 };
const answer = { family: 'sums', difficulty: 0, answer: '1' };
const member = { database: { members: [] }, card: '1', requests: [] };

describe.each(Object.entries(layers))('%s', (name, layer) => {
  const around = (given: unknown) => layer(given, {}, []);

  it('names the method that an environment lacks', () => {
    for (const method of Object.keys(environment)) {
      const lacking = { ...environment, [method]: undefined };
      expect(() => around(lacking)).toThrow(`${name}: ${method} must be a function, got undefined`);
    }
    expect(() => around(7)).toThrow(
      `${name}: expected an object with reset, buildPrompt, updateState, isTerminal, got 7`,
    );
  });
});

it('withWorld names a wrong pool, wrong tools and wrong options', () => {
  const around = layers.withWorld!;
  expect(() => around(environment, 7, [])).toThrow('withWorld: pool must be an object, got 7');
  expect(() => around(environment, {}, [7])).toThrow('withWorld: tools[0] must be an object, got 7');
  expect(() => around(environment, {}, [], 7)).toThrow('withWorld: options must be an object, got 7');
});

it.each<[name: string, args: readonly unknown[], message: string]>([
  ['createSqlWorld', [7], 'options must be an object, got 7'],
  ['folderTools', [7], 'options must be an object, got 7'],
  ['isReasoningAnswer', [7, answer], 'response must be text, got 7'],
  ['isReasoningAnswer', ['1', { ...answer, family: 7 }], 'family must be text, got 7'],
  ['isReasoningAnswer', ['1', { ...answer, difficulty: '1' }], 'difficulty must be a number, got "1"'],
  ['isReasoningAnswer', ['1', { ...answer, answer: 1 }], 'answer must be text, got 1'],
  ['frozenLakeMoves', [lake, 'north'], 'wanted must be one of left, down, right, up, got "north"'],
  ['frozenLakeMoves', [{ ...lake, cell: 7 }, 'left'], 'cell must be a list of numbers, got 7'],
  ['frozenLakeMoves', [{ ...lake, rows: 'SG' }, 'left'], 'rows must be a list of texts, got "SG"'],
  ['frozenLakeMoves', [{ ...lake, successRate: '1' }, 'left'], 'successRate must be a number, got "1"'],
  ['libraryDeskMember', [{ ...member, database: 7 }], 'database must be an object, got 7'],
  ['libraryDeskMember', [{ ...member, card: 7 }], 'card must be text, got 7'],
  ['libraryDeskMember', [{ ...member, requests: [7] }], 'requests[0] must be an object, got 7'],
  ['mastermindPegs', ['12', [1]], 'secret must be a list of numbers, got "12"'],
  ['mastermindPegs', [[1], ['1']], 'guess[0] must be a number, got "1"'],
  ['mastermindPegs', [[1], [10]], 'digits must be whole numbers from 0 to 9, got 10'],
  ['mastermindPegs', [[-1], [1]], 'digits must be whole numbers from 0 to 9, got -1'],
  ['mastermindPegs', [[0.5], [1]], 'digits must be whole numbers from 0 to 9, got 0.5'],
  ['wordleMarks', [7, 'crane'], 'secret must be text, got 7'],
  ['wordleMarks', ['crane', 7], 'guess must be text, got 7'],
])('%s refuses a wrong call: %#', (name, args, message) => {
  expect(() => functions[name]!(...args)).toThrow(RlpError);
  expect(() => functions[name]!(...args)).toThrow(`${name}: ${message}`);
});

it('environmentFromDefinition names the loader that is missing', async () => {
  await expect((environmentFromDefinition as unknown as Call)({}, {})).rejects.toThrow(
    'environmentFromDefinition: load must be a function, got undefined',
  );
});
