import { describe, expect, it } from 'vitest';
import { groupNames, RolloutManager, type RolloutOptions } from './index.ts';
import { characters, mockEnvironment, mockPolicy } from './testing.ts';

/** A manager over a sampler whose context holds 32 tokens. */
function manage(options?: RolloutOptions) {
  const sampler = { policyVersion: 0, contextLength: 32, sample: async () => [] };
  return new RolloutManager({ environment: mockEnvironment(), sampler, tokenizer: characters }, options);
}

describe('answers longer than the context', () => {
  const sampling = { maxTokens: 5000 };

  it('are refused beyond the length that was chosen', () => {
    expect(() => manage({ contextLength: 16, sampling })).toThrow(/^RolloutManager: /);
    expect(() => manage({ contextLength: 16, sampling })).toThrow(
      '`sampling.maxTokens` is 5000, but contextLength holds 16 tokens of prompt and answer together: ' +
        'set it below 16, or make the context longer',
    );
  });

  it("are refused beyond the sampler's", () => {
    expect(() => manage({ sampling })).toThrow("but the sampler's context holds 32 tokens");
    expect(() => manage({ contextLength: 64, sampling })).toThrow(
      "but the sampler's context holds 32 tokens",
    );
  });

  it('are never those of the default', () => {
    expect(() => manage()).not.toThrow();
    expect(() => manage({ contextLength: 16 })).not.toThrow();
  });
});

it('names everything that a rollout lacks', () => {
  const lacking = { environment: class Climb {}, sampler: undefined, tokenizer: { decode: () => '' } };
  expect(() => new RolloutManager(lacking as never)).toThrow(
    /environment: must be an environment[\s\S]*sampler: must be a sampler[\s\S]*tokenizer: must be a tokenizer/,
  );
});

it('names the methods that an environment lacks', () => {
  const environment = { ...mockEnvironment(), isTerminal: undefined };
  expect(() => new RolloutManager({ environment, ...mockPolicy() } as never)).toThrow(
    /environment: must have the methods .*, got none named isTerminal; extend BaseEnvironment/,
  );
});

it('refuses to continue from a state without its task', () => {
  const manager = new RolloutManager({ environment: mockEnvironment(), ...mockPolicy() });
  const states = [{ state: { prompt: '', response: '', stepCount: 0 } }];
  const begin = async () => manager.continueFrom(states as never).next();
  return expect(begin()).rejects.toThrow('continueFrom: expected { task, state }');
});

it.each<[string, (manager: RolloutManager) => unknown, string]>([
  [
    'a source',
    (manager) => manager.collectGroups({ take: () => [] } as never),
    'got a task source; write source.take(8)',
  ],
  [
    'one task',
    (manager) => manager.collectGroups({ id: 'a' } as never),
    'got an object with id; write [ … ]',
  ],
  ['no task', (manager) => manager.collectGroups(null as never), 'got null; write [ … ]'],
  ['no trajectory', (manager) => manager.resume([{}] as never), 'the entry at place 0 is not a trajectory'],
  [
    'a trajectory of no group',
    (manager) => manager.resume([{ id: 'x', task: { id: 'a' } }] as never),
    'trajectory "x" has no group',
  ],
])('takes lists of tasks and of episodes, not %s', (_, begin, message) => {
  const manager = new RolloutManager({ environment: mockEnvironment(), ...mockPolicy() });
  expect(() => begin(manager)).toThrow(message);
});

it('refuses an option that a collection does not have when it is called', () => {
  const manager = new RolloutManager({ environment: mockEnvironment(), ...mockPolicy() });
  const given = { iteration: 1, onGroups: () => undefined } as object;
  const job = { task: { id: 'a', prompt: 'a', metadata: undefined }, groupId: 'a' };
  for (const begin of [
    () => manager.collectGroups([], given),
    () => manager.continueFrom([], given),
    () => manager.resume([], given),
    () => manager.collectJob(job, given),
  ]) {
    expect(begin).toThrow('did you mean onGroup?');
  }
  expect(() => manager.collectGroups([], null as never)).toThrow('RolloutManager: invalid options');
});

it('names groups as a manager does', () => {
  const tasks = [{ id: 'a' }, { id: 'b' }, { id: 'a' }];
  expect(groupNames(tasks, { iteration: 3 })).toEqual(['3/a', '3/b', '3/a#1']);
  expect(groupNames(tasks.slice(1), { iteration: 3, round: 2 })).toEqual(['3.2/b', '3.2/a']);
});
