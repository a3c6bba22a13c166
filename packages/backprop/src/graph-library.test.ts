import { describe, expect, it } from 'vitest';
import { GraphLibrary, type WantedGraph } from './graph-library.ts';
import type { GraphPlan } from './program-protocol.ts';

const plan = (key: string): GraphPlan => ({
  key,
  model: new Uint8Array(),
  rows: 1,
  length: 1,
  parameters: [],
  columns: {},
  gradients: {},
  scattered: [],
  deviceOutputs: [],
  metrics: {},
});

/** Graphs named by a letter and their positions, such as `a2`. */
const request = (...keys: string[]) =>
  new Map<string, WantedGraph>(
    keys.map((key) => [key, { positions: Number(key.slice(1)), build: () => plan(key) }]),
  );

function ask(library: GraphLibrary, ...keys: string[]) {
  const { compile, release } = library.request(request(...keys));
  return { compile: compile.map(({ key }) => key), release };
}

describe('GraphLibrary', () => {
  it('sends each graph once and forgets the least recently used beyond its capacity', () => {
    const library = new GraphLibrary(4);
    expect(ask(library, 'a2', 'b2')).toEqual({ compile: ['a2', 'b2'], release: [] });
    expect(ask(library, 'a2')).toEqual({ compile: [], release: [] });
    expect(ask(library, 'c2')).toEqual({ compile: ['c2'], release: ['b2'] });
    expect(ask(library, 'b2')).toEqual({ compile: ['b2'], release: ['a2'] });
  });

  it('gives up graphs of the request itself, all but the last, when they are too large together', () => {
    const library = new GraphLibrary(4);
    expect(ask(library, 'a3', 'b3', 'c9')).toEqual({ compile: ['a3', 'b3', 'c9'], release: ['b3', 'a3'] });
    expect(ask(library, 'a3')).toEqual({ compile: ['a3'], release: ['c9'] });
  });

  it('sends a graph again after the request that carried it failed', () => {
    const library = new GraphLibrary(2);
    library.forget(library.request(request('a1')));
    expect(ask(library, 'a1')).toEqual({ compile: ['a1'], release: [] });
  });
});
