import { describe, expect, it } from 'vitest';
import type { GraphSource } from '../program-protocol.ts';
import { GraphLibrary } from './graph-library.ts';

const source = (): GraphSource => ({ kind: 'scoring', attention: 'whole' });

describe('GraphLibrary', () => {
  const ask = (library: GraphLibrary, key: string) => {
    const { graph, compile, release } = library.request(key, source);
    expect(graph).toBe(key);
    return { compiled: compile && graph, release };
  };

  it('sends each graph once and forgets the least recently used of more than six', () => {
    const library = new GraphLibrary();
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f'])
      expect(ask(library, key)).toEqual({ compiled: key, release: [] });
    expect(ask(library, 'a')).toEqual({ compiled: undefined, release: [] });
    expect(ask(library, 'g')).toEqual({ compiled: 'g', release: ['b'] });
    expect(ask(library, 'b')).toEqual({ compiled: 'b', release: ['c'] });
  });

  it('sends a graph again after the request that carried it failed', () => {
    const library = new GraphLibrary();
    library.forget(library.request('a', source));
    expect(ask(library, 'a')).toEqual({ compiled: 'a', release: [] });
  });
});
