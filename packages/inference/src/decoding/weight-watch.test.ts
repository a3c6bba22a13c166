import type { EngineHost } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';
import { WeightWatch } from './weight-watch.ts';

/** A store whose weights a test changes. */
function watched(residency: 'host' | 'device', some?: ConstructorParameters<typeof WeightWatch>[2]) {
  const weights = new Map([
    ['a', Float32Array.from({ length: 16 }, (_, at) => at)],
    ['b', Float32Array.of(Number.NaN)],
  ]);
  const parameters = [...weights].map(([name, { length }]) => ({ name, shape: [length] }));
  const store = { residency, revision: 0, parameters, data: (name: string) => weights.get(name)! };
  const host = { store: (name: string) => (name === 'policy' ? store : undefined) } as unknown as EngineHost;
  return { watch: new WeightWatch(host, 'policy', some), store, weights };
}

it('weights that an update changed are noticed once', () => {
  const { watch, weights } = watched('host');
  expect(watch.changed()).toBe(false);
  weights.get('a')![15] = -1;
  expect([watch.changed(), watch.changed()]).toEqual([true, false]);
  weights.get('b')![0] = 0;
  expect([watch.changed(), watch.changed()]).toEqual([true, false]);
});

it('every second number of sixteen is looked at', () => {
  for (const at of [0, 1, 7, 8, 14, 15]) {
    const { watch, weights } = watched('host');
    weights.get('a')![at] = -1;
    expect(watch.changed()).toBe(at % 2 === 1);
  }
});

it('every row is looked at if there are as many values, and no other parameter', () => {
  const { watch, weights } = watched('host', { names: ['a'], values: 4 });
  for (const row of [0, 1, 2, 3]) {
    weights.get('a')!.fill(-1 - row, 4 * row, 4 * row + 4);
    expect([watch.changed(), watch.changed()]).toEqual([true, false]);
  }
  weights.get('b')![0] = 0;
  expect(watch.changed()).toBe(false);
});

it('weights of a device are known by their revision', () => {
  const { watch, store, weights } = watched('device');
  weights.get('a')![15] = -1;
  expect(watch.changed()).toBe(false);
  store.revision++;
  expect([watch.changed(), watch.changed()]).toEqual([true, false]);
});
