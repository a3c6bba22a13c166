import { parseModelConfig } from '@rlp/models';
import { parameterSpecs } from '@rlp/models/decoder';
import type { Graph } from '@rlp/onnx';
import { describe, expect, it } from 'vitest';

import { tinyConfigs } from '../testing/tiny-models.ts';
import { firstOutput, fusedGraph } from './fused-graph.ts';

describe('fusedGraph', () => {
  it.each(['prompts', 'tokens'] as const)(
    'of %s puts one number before all other outputs, because the first of a run is copied',
    (step) => {
      const config = parseModelConfig(tinyConfigs.llama, 'test');
      const shapes = new Map(parameterSpecs(config).map(({ name, shape }) => [name, shape]));
      const parameter = (graph: Graph, name: string) => graph.input(name, 'float32', shapes.get(name)!);
      const graph = fusedGraph({ config, contextLength: 32, step, linear: 'plain', parameter });
      const [name, value] = [...graph.outputs][0]!;
      expect(name).toBe(firstOutput);
      expect(value.shape).toEqual([1]);
    },
  );
});
