import { describe, expect, it } from 'vitest';
import * as runtime from './runtime.ts';
import * as web from './web.ts';

describe('the entry for pages', () => {
  it('has what the entry for Node has, because bundlers take it in its place', () => {
    expect(Object.keys(web).sort()).toEqual(Object.keys(runtime).sort());
  });

  it('names every problem of its options', async () => {
    const wrong = web.createEngine({ assets: '/onnx', treads: 2 } as never);
    await expect(wrong).rejects.toThrow(
      /createEngine: [\s\S]*assets: must end with "\/"[\s\S]*treads.*threads/,
    );
  });
});
