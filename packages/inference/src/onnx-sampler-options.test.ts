import { OptionsError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { type OnnxSamplerOptions, resolveSamplerOptions } from './onnx-sampler-options.ts';
import { tinyModel } from './testing/tiny-models.ts';

/** An engine of a provider that nothing is asked of. */
const engineOf = (executionProvider: string) =>
  ({
    start: () => undefined,
    executionProvider,
    residency: executionProvider === 'cpu' ? 'host' : 'device',
  }) as never;
const resolve = (change: Partial<OnnxSamplerOptions> = {}) =>
  resolveSamplerOptions({ engine: engineOf('cpu'), model: tinyModel(), ...change });

describe('options of createOnnxSampler', () => {
  it('have defaults', () => {
    const { engine: _engine, model: _model, ...rest } = resolve();
    expect(rest).toEqual({
      ...{ store: 'policy', maxSequences: 16, contextLength: 64, weights: 'shared', operators: 'fused' },
      ...{ prefillTokens: 2048, prefixCacheBytes: 0, promptLookup: 0, scoreTokens: 2048, policyVersion: 0 },
    });
  });

  it('take the context of the model, at most 2048 unless they say so', () => {
    const long = { ...tinyModel(), config: { ...tinyModel().config, contextLength: 4096 } };
    expect(resolve({ model: long }).contextLength).toBe(2048);
    expect(resolve({ model: long, contextLength: 4096 }).contextLength).toBe(4096);
    expect(() => resolve({ model: long, contextLength: 4097 })).toThrow(
      'createOnnxSampler: contextLength is 4097, but the model supports 4096 positions; lower it',
    );
  });

  it('choose the fastest operators that provider and heads allow', () => {
    const small = tinyModel('llama, small heads');
    const chosen = (provider: string, model = tinyModel()) =>
      resolve({ engine: engineOf(provider), model }).operators;
    expect(['cpu', 'cuda', 'webgpu', 'dml'].map((provider) => chosen(provider))).toEqual([
      ...['fused', 'fused', 'portable', 'standard'],
    ]);
    expect(['cpu', 'cuda', 'webgpu'].map((provider) => chosen(provider, small))).toEqual([
      ...['standard', 'fused', 'portable'],
    ]);
    expect(resolve({ operators: 'portable' }).operators).toBe('portable');
    expect(() => resolve({ operators: 'fused', model: small })).toThrow(
      "createOnnxSampler: operators 'fused' needs a head dimension that is a multiple of 8, got 4; omit it or use 'standard'",
    );
    expect(resolve({ operators: 'fused', model: small, engine: engineOf('cuda') }).operators).toBe('fused');
  });

  it.each<[Partial<OnnxSamplerOptions>, string, string]>([
    [
      { weights: 'int8' },
      'cuda',
      "weights 'int8' needs operators 'fused' on the provider cpu, got 'fused' on cuda",
    ],
    [{ weights: 'int8', operators: 'portable' }, 'cpu', "got 'portable' on cpu; use weights 'shared'"],
    [{ weights: 'float16' }, 'cpu', "weights 'float16' needs the provider cuda or webgpu, got cpu"],
    [{ prefixCacheBytes: 1 }, 'webgpu', 'prefixCacheBytes needs the provider cpu, got webgpu; omit it'],
  ])('refuse %o on %s', (change, provider, message) => {
    expect(() => resolve({ ...change, engine: engineOf(provider) })).toThrow(`createOnnxSampler: `);
    expect(() => resolve({ ...change, engine: engineOf(provider) })).toThrow(message);
  });

  it('take half precision on a device, and eight bits and a cache on the processor', () => {
    expect(resolve({ weights: 'float16', engine: engineOf('webgpu') }).weights).toBe('float16');
    expect(resolve({ weights: 'int8', prefixCacheBytes: 1 }).prefixCacheBytes).toBe(1);
    expect(resolve({ prefixCacheBytes: 0, engine: engineOf('cuda') }).prefixCacheBytes).toBe(0);
  });

  it.each([null, 'text', {}, undefined])('name what %o is not', (value) => {
    const wrong = { engine: value, model: value, renderer: value ?? null } as never;
    const resolving = () => resolveSamplerOptions(wrong);
    expect(resolving).toThrow(OptionsError);
    expect(resolving).toThrow(/^createOnnxSampler: invalid options/);
    expect(resolving).toThrow('engine: must be an engine from createEngine');
    expect(resolving).toThrow('model: must be a model from loadModel or createModel');
    expect(resolving).toThrow('renderer: must be a chat renderer');
  });
});
