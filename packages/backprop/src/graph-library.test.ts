import { describe, expect, it } from 'vitest';
import { GraphLibrary } from './graph-library.ts';
import type { GraphPlan } from './program-protocol.ts';

const request = (...keys: string[]) =>
  new Map(
    keys.map((key) => [
      key,
      (): GraphPlan => ({
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
      }),
    ]),
  );

function ask(library: GraphLibrary, ...keys: string[]) {
  const { compile, release } = library.request(request(...keys));
  return { compile: compile.map(({ key }) => key), release };
}

describe('GraphLibrary', () => {
  it('sends each graph once and forgets the least recently used', () => {
    const library = new GraphLibrary(2);
    expect(ask(library, 'a', 'b')).toEqual({ compile: ['a', 'b'], release: [] });
    expect(ask(library, 'a')).toEqual({ compile: [], release: [] });
    expect(ask(library, 'c')).toEqual({ compile: ['c'], release: ['b'] });
    expect(ask(library, 'b')).toEqual({ compile: ['b'], release: ['a'] });
  });

  it('keeps what one request needs, however much, and trims afterwards', () => {
    const library = new GraphLibrary(1);
    expect(ask(library, 'a', 'b', 'c')).toEqual({ compile: ['a', 'b', 'c'], release: [] });
    expect(ask(library, 'b')).toEqual({ compile: [], release: ['a', 'c'] });
  });

  it('sends a graph again after the request that carried it failed', () => {
    const library = new GraphLibrary(2);
    library.forget(library.request(request('a')));
    expect(ask(library, 'a')).toEqual({ compile: ['a'], release: [] });
  });
});
