import { parseModelConfig } from '@rlp/models';
import { parameterSpecs } from '@rlp/models/decoder';
import type { Graph } from '@rlp/onnx';
import { describe, expect, it } from 'vitest';

import { scoreGraph } from '../scoring/score-graph.ts';
import { tinyConfigs } from '../testing/tiny-models.ts';
import { deviceGraph } from './device-graph.ts';
import { firstOutput, fusedGraph } from './fused-graph.ts';
import { standardGraph } from './standard-graph.ts';

/** A small model's config, and its parameters as inputs of a graph. */
function modelOf(kind: keyof typeof tinyConfigs = 'llama', type: 'float32' | 'float16' = 'float32') {
  const config = parseModelConfig(JSON.parse(JSON.stringify(tinyConfigs[kind])), 'test');
  const shapes = new Map(parameterSpecs(config).map(({ name, shape }) => [name, shape]));
  const parameter = (graph: Graph, name: string) => graph.input(name, type, shapes.get(name)!);
  return { config, parameter, contextLength: 32 };
}

const parameters = new Set(parameterSpecs(modelOf().config).map(({ name }) => name));
const described = (
  values: Iterable<readonly [string, { readonly type: string; readonly shape: readonly unknown[] }]>,
) =>
  Object.fromEntries([...values].map(([name, { type, shape }]) => [name, `${type} [${shape.join(', ')}]`]));
/** Inputs that are not parameters, and outputs. */
const edges = ({ inputs, outputs }: Graph) => ({
  inputs: described(inputs.filter(({ name }) => !parameters.has(name)).map((value) => [value.name, value])),
  outputs: described(outputs),
});
const count = ({ nodes }: Graph, type: string) =>
  nodes.filter(({ definition }) => definition.type === type).length;
const domains = ({ nodes }: Graph) => new Set(nodes.map(({ definition }) => definition.domain ?? ''));

/** Cache of two layers, before and after a step. */
const cache = (prefix: '' | 'new_', shape: string, type = 'float32') =>
  Object.fromEntries(
    ['key.0', 'value.0', 'key.1', 'value.1'].map((name) => [`${prefix}${name}`, `${type} [${shape}]`]),
  );
const host = 'batch, 2, 32, 8';
// Three sequences, two heads, 33 positions.
const device = '198, 8';
const distributions = (rows: string) => ({
  probabilities: `float32 [${rows}, 32]`,
  logits: `float32 [${rows}, 32]`,
});

describe('a graph reads and writes what its description says', () => {
  const kernel = { total: 'int32 [1]', last_positions: 'int32 [batch]' };

  it('for prompts with grouped-query attention', () => {
    const graph = fusedGraph({ ...modelOf(), step: 'prompts', linear: 'plain' });
    expect(edges(graph)).toEqual({
      inputs: {
        ...{ tokens: 'int64 [batch, time]', positions: 'int64 [batch, time]', ...kernel, ...cache('', host) },
        ...{ rows: 'int64 [outputs]', inverse_temperature: 'float32 [outputs, 1]' },
      },
      outputs: { [firstOutput]: 'int32 [1]', ...cache('new_', host), ...distributions('outputs') },
    });
  });

  it('for a prompt whose tokens attend in parts', () => {
    const { inputs, outputs } = edges(
      fusedGraph({ ...modelOf(), step: 'prompts', parts: 3, linear: 'plain' }),
    );
    expect(inputs).toMatchObject({
      part_sizes: 'int64 [3]',
      part_last_positions: 'int32 [3]',
      total: 'int32 [1]',
    });
    expect(inputs).not.toHaveProperty('last_positions');
    const after = Object.keys(cache('new_', host)).flatMap((name) => [
      name,
      `${name}.part0`,
      `${name}.part1`,
    ]);
    expect(Object.keys(outputs).sort()).toEqual(
      [...Object.keys(distributions('')), firstOutput, ...after].sort(),
    );
  });

  it('for tokens with grouped-query attention, in half precision, drawn', () => {
    const shared = { step: 'tokens', linear: 'plain', type: 'float16', output: 'draws' } as const;
    expect(edges(fusedGraph({ ...modelOf('llama', 'float16'), ...shared }))).toEqual({
      inputs: {
        ...{
          tokens: 'int64 [batch, 1]',
          positions: 'int64 [batch, 1]',
          ...kernel,
          ...cache('', host, 'float16'),
        },
        ...{ inverse_temperature: 'float32 [batch, 1]', uniforms: 'float32 [batch, 1]' },
      },
      outputs: {
        ...{ [firstOutput]: 'int32 [1]', ...cache('new_', host, 'float16') },
        ...{ drawn: 'float32 [batch, 1]', drawn_probabilities: 'float32 [batch, 1]' },
      },
    });
  });

  it('with operators of the standard', () => {
    expect(edges(standardGraph(modelOf()))).toEqual({
      inputs: {
        ...{ tokens: 'int64 [batch, time]', positions: 'int64 [batch, time]', ...cache('', host) },
        ...{ mask: 'float32 [batch, 1, time, time+32]', rows: 'int64 [outputs]' },
        ...{ inverse_temperature: 'float32 [outputs, 1]' },
      },
      outputs: { ...cache('new_', 'batch, 2, time, 8'), ...distributions('outputs') },
    });
  });

  it.each(['float32', 'float16'] as const)('on a device, in %s', (type) => {
    const shared = { maxSequences: 3, ops: 'fused', output: 'distributions' } as const;
    expect(edges(deviceGraph({ ...modelOf('llama', type), ...shared, type }))).toEqual({
      inputs: {
        ...{ tokens: 'int64 [batch, time]', positions: 'int64 [batch, time]', ...cache('', device, type) },
        ...{ places: 'float32 [batch, time, 1]', key_places: 'float32 [keys]' },
        ...{ slots: 'int64 [2*batch*time, 1]', start: 'int64 [2]', end: 'int64 [2]' },
        ...{ rows: 'int64 [outputs]', inverse_temperature: 'float32 [outputs, 1]' },
      },
      outputs: { ...cache('new_', device, type), ...distributions('outputs') },
    });
  });

  it('for scores and for logits', () => {
    const inputs = {
      ...{ tokens: 'int64 [batch, time]', positions: 'int64 [batch, time]' },
      ...{ mask: 'float32 [time, time]', rows: 'int64 [rows]' },
    };
    expect(edges(scoreGraph({ ...modelOf(), ops: 'fused', output: 'scores' }))).toEqual({
      inputs: { ...inputs, targets: 'int64 [rows]', temperature: 'float32 [1, 1]' },
      outputs: { logprobs: 'float32 [rows]', entropies: 'float32 [rows]' },
    });
    expect(edges(scoreGraph({ ...modelOf(), ops: 'fused', output: 'logits' }))).toEqual({
      inputs,
      outputs: { logits: 'float32 [rows, 32]' },
    });
  });
});

describe('operators', () => {
  it('are those of the standard where only these are asked for', () => {
    expect(domains(standardGraph(modelOf()))).toEqual(new Set(['']));
    for (const output of ['scores', 'logits'] as const) {
      const graph = scoreGraph({ ...modelOf(), ops: 'standard', output });
      expect(domains(graph)).toEqual(new Set(['']));
      expect(count(graph, 'SimplifiedLayerNormalization')).toBe(0);
    }
    expect(count(standardGraph(modelOf()), 'SimplifiedLayerNormalization')).toBe(0);
  });

  it('are those of ONNX Runtime elsewhere, for norms, rotations and products', () => {
    const fused = scoreGraph({ ...modelOf(), ops: 'fused', output: 'scores' });
    const portable = scoreGraph({ ...modelOf(), ops: 'portable', output: 'scores' });
    const used = (graph: Graph) =>
      ['SimplifiedLayerNormalization', 'RotaryEmbedding', 'FusedMatMul'].map((type) => count(graph, type));
    expect([used(fused), used(portable)]).toEqual([
      [5, 4, 4],
      [5, 4, 0],
    ]);
    const step = fusedGraph({ ...modelOf(), step: 'tokens', linear: 'plain' });
    expect(used(step)).toEqual([5, 4, 0]);
    expect(count(step, 'GroupQueryAttention')).toBe(2);
  });

  it('rotate heads of a multiple of 16 within attention', () => {
    const graph = fusedGraph({ ...modelOf('llama, kernel rotation'), step: 'tokens', linear: 'plain' });
    expect(count(graph, 'RotaryEmbedding')).toBe(0);
    expect(graph.inputs.map(({ name }) => name)).not.toContain('positions');
    const attributes = (of: Graph) =>
      of.nodes.flatMap(({ definition: { type }, attributes: given }) =>
        type === 'GroupQueryAttention' ? [[given.do_rotary, given.local_window_size]] : [],
      );
    expect(attributes(graph)).toEqual([
      [1, -1],
      [1, -1],
    ]);
    expect(attributes(fusedGraph({ ...modelOf(), step: 'tokens', linear: 'plain' }))[0]).toEqual([0, -1]);
    const local = fusedGraph({ ...modelOf('gemma3'), step: 'tokens', linear: 'plain' });
    expect(attributes(local)).toEqual([
      [1, 5],
      [1, -1],
    ]);
  });

  it('swap the operands of every linear layer and of the head, if they are asked to', () => {
    const [plain, swapped] = (['plain', 'swapped'] as const).map((linear) =>
      fusedGraph({ ...modelOf(), step: 'tokens', linear }),
    );
    // Seven layers in each of two blocks.
    expect([plain!, swapped!].map((graph) => [count(graph, 'Gemm'), count(graph, 'Transpose')])).toEqual([
      [15, 0],
      [15, 15],
    ]);
    const head = (graph: Graph) => graph.nodes.at(-2)!.definition.type;
    expect([head(plain!), head(swapped!)]).toEqual(['Gemm', 'Transpose']);
    expect(count(scoreGraph({ ...modelOf(), ops: 'fused', output: 'logits' }), 'Transpose')).toBe(8);
  });

  it('mask what is outside of a window once, and only where layers have one', () => {
    const graph = (kind: keyof typeof tinyConfigs) =>
      deviceGraph({
        ...modelOf(kind),
        maxSequences: 3,
        type: 'float32',
        ops: 'fused',
        output: 'distributions',
      });
    const minima = (kind: keyof typeof tinyConfigs) => count(graph(kind), 'Min');
    expect([minima('llama'), minima('mistral'), minima('gemma3')]).toEqual([1, 3, 3]);
    const greater = (kind: keyof typeof tinyConfigs) => count(standardGraph(modelOf(kind)), 'Greater');
    expect([greater('llama'), greater('mistral'), greater('gemma3')]).toEqual([0, 1, 1]);
  });

  it('cool hidden states in float32, and logits in half precision', () => {
    const last = (type: 'float32' | 'float16') => {
      const shared = { maxSequences: 3, ops: 'fused', output: 'distributions', type } as const;
      const { nodes } = deviceGraph({ ...modelOf('llama', type), ...shared });
      return nodes.slice(-3).map(({ definition }) => definition.type);
    };
    expect(last('float32')).toEqual(['Mul', 'Gemm', 'Softmax']);
    expect(last('float16')).toEqual(['Cast', 'Mul', 'Softmax']);
  });
});

it.each(['prompts', 'tokens'] as const)(
  'the graph of %s puts one number before all other outputs, because the first of a run is copied',
  (step) => {
    const graph = fusedGraph({ ...modelOf(), step, linear: 'plain' });
    const [name, value] = [...graph.outputs][0]!;
    expect(name).toBe(firstOutput);
    expect(value.shape).toEqual([1]);
  },
);
