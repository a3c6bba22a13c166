import { describe, expect, it } from 'vitest';
import { checkRun } from './check-run.ts';
import type { RunConfig } from './run-schema.ts';

const base: RunConfig = { model: 'models/qwen', data: 'rows.jsonl', output: 'runs/one' };
const none = { reference: 'none' } as const;

describe("a backend with reference: 'none'", () => {
  it.each([
    [
      { backend: none, algorithm: { preset: 'skyrl' } },
      /algorithm\.preset: 'skyrl' sets loss\.klCoefficient, which needs the reference policy/,
    ],
    [
      { algorithm: { name: 'rloo', preset: 'trl', backend: none } },
      /algorithm\.preset: 'trl' sets rewardKl, .*; leave reference out, or choose another preset/,
    ],
    [
      { backend: none, preference: {} },
      /preference\.loss: 'sigmoid' reads the reference policy, .*\(sft, cpo, simpo, orpo\)/,
    ],
    [{ backend: none, mode: 'dpo' }, /preference\.loss: 'sigmoid' reads/],
    [
      { preference: { loss: ['sft', { kind: 'ipo' }], backend: none } },
      /preference\.loss: 'ipo' reads the reference/,
    ],
    [
      {
        backend: none,
        preference: { loss: 'simpo', referenceUpdate: { method: 'ema', decay: 0, everyUpdates: 1 } },
      },
      /preference\.referenceUpdate: moves the reference policy/,
    ],
    [
      { backend: none, sft: {}, preference: {}, evaluation: { every: 0 } },
      /evaluation\.every: .*\n.*preference\.loss: 'sigmoid'/,
    ],
  ] as const)('is refused with %j before anything is loaded', (more, problem) => {
    expect(() => checkRun({ ...base, ...more }, 'test')).toThrow(problem);
  });

  it.each([
    { backend: none, algorithm: { preset: 'verl' } },
    { backend: none, algorithm: { preset: 'skyrl', loss: { klCoefficient: 0 } } },
    { backend: none, algorithm: { preset: 'skyrl', backend: { reference: 'initial' } } },
    { backend: none, preference: { loss: 'orpo' } },
    { backend: none, preference: { backend: { reference: 'initial' } } },
    { backend: none, sft: {} },
  ] as const)('is taken with %j', (more) => {
    expect(() => checkRun({ ...base, ...more }, 'test')).not.toThrow();
  });
});
