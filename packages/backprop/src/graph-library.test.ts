import { describe, expect, it } from 'vitest';
import { GraphLibrary } from './graph-library.ts';
import type { GraphPlan } from './program-protocol.ts';

const plan = (key: string): GraphPlan => ({
  key,
  model: new Uint8Array(),
  parameters: [],
  blocks: [],
  columns: {},
  gradients: {},
  scattered: [],
  deviceOutputs: [],
  metrics: {},
  perPosition: [],
});

describe('GraphLibrary', () => {
  const ask = (library: GraphLibrary, key: string) => {
    const { graph, compile, release } = library.request(key, () => plan(key));
    expect(graph).toBe(key);
    return { compiled: compile?.key, release };
  };

  it('sends each graph once and forgets the least recently used of more than four', () => {
    const library = new GraphLibrary();
    for (const key of ['a', 'b', 'c', 'd']) expect(ask(library, key)).toEqual({ compiled: key, release: [] });
    expect(ask(library, 'a')).toEqual({ compiled: undefined, release: [] });
    expect(ask(library, 'e')).toEqual({ compiled: 'e', release: ['b'] });
    expect(ask(library, 'b')).toEqual({ compiled: 'b', release: ['c'] });
  });

  it('sends a graph again after the request that carried it failed', () => {
    const library = new GraphLibrary();
    library.forget(library.request('a', () => plan('a')));
    expect(ask(library, 'a')).toEqual({ compiled: 'a', release: [] });
  });
});
