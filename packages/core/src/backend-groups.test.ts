import { describe, expect, it } from 'vitest';
import { hasGroup, requireGroups } from './backend-groups.ts';
import { ArgumentError } from './errors.ts';
import type { TrainingBackend } from './training.ts';

const absent = () => Promise.reject(new Error('not called here'));

/** A backend that nobody calls, with the required members and these. */
function backendWith(members: object = {}): TrainingBackend {
  const required = { forwardBackward: absent, optimStep: absent, logprobs: absent, publish: absent };
  return { ...required, close: async () => undefined, ...members } as unknown as TrainingBackend;
}

describe('hasGroup', () => {
  it('asks for every member of the group', () => {
    const half = backendWith({ saveCheckpoint: absent });
    expect(hasGroup(half, 'checkpoints')).toBe(false);
    expect(hasGroup(backendWith({ ...half, loadCheckpoint: absent }), 'checkpoints')).toBe(true);
    expect(hasGroup(half, 'values')).toBe(false);
  });

  it('heeds what a backend was created without', () => {
    const backend = backendWith({ values: absent, updateReference: absent, lacks: ['values'] });
    expect(hasGroup(backend, 'values')).toBe(false);
    expect(hasGroup(backend, 'reference')).toBe(true);
  });
});

describe('requireGroups', () => {
  const needs = [
    { option: 'loss.klCoefficient', group: 'reference' },
    { option: 'run', group: 'checkpoints' },
    { option: 'critic', group: 'values' },
  ] as const;

  it('names each option whose group is missing, with what it needs, and no other', () => {
    const backend = backendWith({ saveCheckpoint: absent, loadCheckpoint: absent });
    expect(() => requireGroups('GRPOAlgorithm', backend, needs)).toThrow(
      new ArgumentError(
        'GRPOAlgorithm: the training backend lacks what these options need; turn them off or choose another backend' +
          "\n  - loss.klCoefficient → reference: a reference policy; createOnnxBackend keeps one with reference: 'initial'" +
          "\n  - critic → values: a value head; createOnnxBackend makes one with valueHead: 'linear'",
      ),
    );
  });

  it('is content with a backend that has all, and with no needs', () => {
    const whole = backendWith({
      saveCheckpoint: absent,
      loadCheckpoint: absent,
      values: absent,
      updateReference: absent,
    });
    expect(requireGroups('x', whole, needs)).toBeUndefined();
    expect(requireGroups('x', backendWith(), [])).toBeUndefined();
  });
});
