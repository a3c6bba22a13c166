import { ConversationEnvironment, SimpleTextEnvironment } from '@rlp/env';
import type { LanguageModel } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import type { PreparedRun } from '../prepare.ts';
import { rlStage } from './rl.ts';

const prepared = (algorithm: object, change: object = {}) =>
  ({
    environment: new SimpleTextEnvironment(),
    given: { algorithm: { iterations: 10, ...algorithm } },
    config: { seed: '0' },
    ...change,
  }) as unknown as PreparedRun;
const updatesOf = (algorithm: object, change?: object) =>
  rlStage.plan(prepared(algorithm, change), {} as LanguageModel).updates;

describe('optimizer steps of practice', () => {
  it('are those of all minibatches of all epochs', () => {
    expect(updatesOf({})).toBe(10);
    expect(updatesOf({ epochs: 2, minibatches: 3 })).toBe(60);
  });

  it('are no more than there are answers', () => {
    const rollout = { groupSize: 4 };
    expect(updatesOf({ minibatches: 100, tasksPerIteration: 2, rollout })).toBe(80);
    expect(updatesOf({ minibatches: 1000 }, { environment: new ConversationEnvironment() })).toBe(640);
  });

  it('are as many as asked for if an episode may be several sequences', () => {
    expect(updatesOf({ minibatches: 100 }, { agent: {} })).toBe(1000);
    expect(updatesOf({ minibatches: 100 }, { environment: {} })).toBe(1000);
  });

  it('count the passes of the algorithm and of its preset', () => {
    expect(updatesOf({ name: 'ppo' })).toBe(40);
    expect(updatesOf({ name: 'gspo' })).toBe(40);
    expect(updatesOf({ preset: 'openrlhf' })).toBe(80);
    expect(updatesOf({ name: 'ppo', minibatches: 100 })).toBe(2560);
  });
});
