import { EngineError } from '@rlp/core';
import type { EngineHost, EngineSession, ParameterStore } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';
import type { PolicyGraphs } from '../graphs/policy-graphs.ts';
import type { GradientSums, GraphRequest } from '../program-protocol.ts';
import { CompiledGraphs, parameterFeeds } from './program-graphs.ts';

/** Graphs by the keys that they are built for, and what is released. */
function compiled() {
  const log: string[] = [];
  const plan =
    (kind: string) => (key: string, _loss?: unknown, _attention?: unknown, sums?: GradientSums) => {
      log.push(`${kind} ${key}`);
      return { model: new Uint8Array(), kind, sums };
    };
  const builder = { training: plan('training'), scoring: plan('scoring'), values: plan('values') };
  let sessions = 0;
  const host = {
    createSession: async (): Promise<Partial<EngineSession>> => {
      const name = sessions++;
      return { release: async () => void log.push(`released ${name}`) };
    },
  };
  const graphs = new CompiledGraphs(host as unknown as EngineHost, builder as unknown as PolicyGraphs);
  const open = (
    graph: string,
    kind?: 'training' | 'scoring' | 'values',
    release: readonly string[] = [],
    sums?: GradientSums,
  ) =>
    graphs.open(
      { graph, release, ...(kind && { compile: { kind, attention: 'whole' } }) } as unknown as GraphRequest,
      sums,
    );
  return { graphs, open, log };
}

it('graphs are built as they are described, kept by their keys, and released when they are replaced', async () => {
  const { graphs, open, log } = compiled();
  const first = await open('a', 'training');
  expect(await open('a')).toBe(first);
  await open('b', 'scoring');
  await open('c', 'values', ['b']);
  expect(log.splice(0)).toEqual(['training a', 'scoring b', 'released 1', 'values c']);
  await expect(open('b')).rejects.toThrow(EngineError);
  await expect(open('b')).rejects.toThrow('training program: expected the graph b to be sent first');
  expect(await open('a', 'training')).not.toBe(first);
  expect(log.splice(0)).toEqual(['released 0', 'training a']);
  await graphs.close();
  expect(log.splice(0)).toEqual(['released 2', 'released 3']);
  await graphs.close();
  expect(log).toEqual([]);
});

it('a graph whose gradients are added replaces the one for a single micro-batch, and serves in its place', async () => {
  const { open, log } = compiled();
  const alone = await open('a', 'training', [], 'alone');
  expect(await open('a', undefined, [], 'alone')).toBe(alone);
  const added = await open('a', undefined, [], 'added');
  expect(log.splice(0)).toEqual(['training a', 'released 0', 'training a']);
  expect([alone, added].map(({ plan }) => plan.sums)).toEqual(['alone', 'added']);
  expect(await open('a', undefined, [], 'alone')).toBe(added);
  expect(await open('a', undefined, [], 'added')).toBe(added);
  expect(log).toEqual([]);
});

it('a parameter is fed from the first store that has it', () => {
  const storeOf = (name: string, ...parameters: string[]) =>
    ({
      parameters: parameters.map((each) => ({ name: each, shape: [1] })),
      tensor: (each: string) => `${each} of ${name}`,
    }) as unknown as ParameterStore;
  const stores = [storeOf('one', 'a', 'b'), storeOf('other', 'b', 'c')];
  expect(parameterFeeds(['c', 'b', 'a'], stores)).toEqual({ a: 'a of one', b: 'b of one', c: 'c of other' });
  expect(() => parameterFeeds(['d'], stores)).toThrow(
    'training program: expected a store with the parameter "d", none has it',
  );
});
