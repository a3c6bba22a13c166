import { ArgumentError } from '@rlp/core';
import { expect, it } from 'vitest';
import {
  crowdingDistances,
  distanceToFrontier,
  paretoRanks,
  paretoRewards,
  ranks,
  relativeRewards,
  standardizedRewards,
} from '../computers.ts';
import {
  accuracyReward,
  computeIntegratedRewards,
  fluencyReward,
  keywordReward,
  lengthReward,
  perplexityReward,
  qualityMetrics,
  summaryStatistics,
} from '../index.ts';
import { checkInstructions, followsInstruction } from '../instructions.ts';
import { cosineLength, readToolCalls } from '../stock.ts';
import { episodesFromBuffer } from './episode.ts';

// What a program in JavaScript passes, or one that casts.
const nothing = undefined as never;

it.each<[name: string, call: () => unknown, message: string]>([
  ['paretoRanks', () => paretoRanks([[1], null as never]), 'points[1] must be a list, got null'],
  ['paretoRewards', () => paretoRewards(nothing), 'points must be a list, got undefined'],
  ['crowdingDistances', () => crowdingDistances([1, 2] as never), 'points[0] must be a list, got 1'],
  ['distanceToFrontier', () => distanceToFrontier(nothing, []), 'point must be a list of numbers'],
  ['standardizedRewards', () => standardizedRewards(nothing), 'scores must be a list, got undefined'],
  ['ranks', () => ranks('12' as never), 'scores must be a list, got "12"'],
  ['relativeRewards', () => relativeRewards(['1'] as never), 'scores[0] must be a finite number'],
  ['computeIntegratedRewards', () => computeIntegratedRewards(nothing, []), 'baseRewards must be a list'],
  ['summaryStatistics', () => summaryStatistics([1, '2'] as never), 'values[1] must be a number, got "2"'],
  ['qualityMetrics', () => qualityMetrics([null] as never), 'episodes[0] must be an object, got null'],
  ['lengthReward', () => lengthReward(nothing), 'response must be text, got undefined'],
  ['fluencyReward', () => fluencyReward(nothing), 'response must be text, got undefined'],
  ['accuracyReward', () => accuracyReward(nothing), 'response must be text, got undefined'],
  ['keywordReward', () => keywordReward('a' as never, { keywords: [] }), 'expected an object with prompt'],
  ['perplexityReward', () => perplexityReward(Number.NaN), 'perplexity must be a number, got NaN'],
  ['cosineLength', () => cosineLength('long' as never, 'right'), 'length must be a number, got "long"'],
  ['readToolCalls', () => readToolCalls(nothing), 'messages must be a list of objects'],
  ['checkInstructions', () => checkInstructions(nothing), 'instructions must be a list of objects'],
  ['followsInstruction', () => followsInstruction('', {} as never), 'id must be text, got undefined'],
  ['episodesFromBuffer', () => episodesFromBuffer({} as never), 'buffer must be a list of objects'],
])('%s names the argument that is wrong, what it expected and what came', (name, call, message) => {
  expect(call).toThrow(ArgumentError);
  expect(call).toThrow(`${name}: `);
  expect(call).toThrow(message);
});
