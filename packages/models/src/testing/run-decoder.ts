import type { Weights } from '@rlp/core';
import { Graph, gradients, serialize, type Value } from '@rlp/onnx';
import { fullLayout, getLogits, type OperatorSet, tokenLogprobs } from '@rlp/onnx/layers';
import { mean, neg, reshape } from '@rlp/onnx/ops';
import { InferenceSession, Tensor } from 'onnxruntime-node';

import type { ModelConfig } from '../config/model-config.ts';
import { decoderHidden } from '../decoder/decoder.ts';
import { headParameter, parameterSpecs } from '../decoder/parameters.ts';
import { trainingBlocks } from '../decoder/training-blocks.ts';

/** How a decoder is run in a test. */
export interface RunOptions {
  readonly ops?: OperatorSet | undefined;
  readonly recompute?: 'none' | 'layer' | undefined;
}

type Numbers = Float32Array;

interface Forward {
  readonly graph: Graph;
  readonly parameters: ReadonlyMap<string, Value>;
  readonly hidden: Value;
  readonly head: Value;
}

function forward(config: ModelConfig, batch: number, time: number, options: RunOptions): Forward {
  const graph = new Graph();
  const tokens = graph.input('tokens', 'int64', [batch * time]);
  const parameters = new Map(
    parameterSpecs(config).map(({ name, shape }) => [name, graph.input(name, 'float32', shape)] as const),
  );
  const parameter = (name: string) => parameters.get(name)!;
  const blocks = trainingBlocks({
    graph,
    config,
    layout: fullLayout(graph, batch, time),
    parameter,
    ops: options.ops ?? 'fused',
    recompute: options.recompute ?? 'none',
  });
  return {
    graph,
    parameters,
    hidden: decoderHidden(config, tokens, blocks),
    head: parameter(headParameter(config)),
  };
}

async function session(graph: Graph) {
  const created = await InferenceSession.create(serialize(graph), {
    logSeverityLevel: 3,
    intraOpNumThreads: 1,
  });
  return async (weights: Weights, integers: Record<string, readonly (readonly number[])[]>) => {
    const feeds: Record<string, Tensor> = {};
    for (const name of created.inputNames) {
      const rows = integers[name];
      const weight = weights.get(name);
      if (rows)
        feeds[name] = new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.flat().length]);
      else feeds[name] = new Tensor('float32', weight!.data, weight!.shape);
    }
    const outputs = await created.run(feeds);
    return Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, data as Numbers]));
  };
}

/** A decoder over rows of tokens of one length: all logits `[B·T, V]`, row by row. */
export async function logitsOf(
  config: ModelConfig,
  batch: number,
  time: number,
  options: RunOptions = {},
): Promise<(weights: Weights, rows: readonly (readonly number[])[]) => Promise<Numbers>> {
  const { graph, hidden, head } = forward(config, batch, time, options);
  graph.output('logits', getLogits(hidden, head));
  const run = await session(graph);
  return async (weights, rows) => (await run(weights, { tokens: rows })).logits!;
}

/** Logprobs and entropies of the targets, `[B·T]` each, and all logits `[B·T, V]`. */
export async function decoderScores(
  config: ModelConfig,
  weights: Weights,
  inputs: readonly (readonly number[])[],
  targets: readonly (readonly number[])[],
  options: RunOptions = {},
): Promise<{ logprobs: Numbers; entropies: Numbers; logits: Numbers }> {
  const { graph, hidden, head } = forward(config, inputs.length, inputs[0]!.length, options);
  const chosen = graph.input('targets', 'int64', [inputs.flat().length]);
  const { logprobs, entropies } = tokenLogprobs(hidden, head, chosen, { entropies: 'needed' });
  graph.output('logprobs', logprobs);
  graph.output('entropies', entropies!);
  graph.output('logits', getLogits(hidden, head));
  const run = await session(graph);
  const outputs = await run(weights, { tokens: inputs, targets });
  return { logprobs: outputs.logprobs!, entropies: outputs.entropies!, logits: outputs.logits! };
}

/** Mean next-token cross-entropy over rows of tokens, and its gradient in every parameter. */
export async function trainingStep(
  config: ModelConfig,
  rows: readonly (readonly number[])[],
  options: RunOptions = {},
): Promise<(weights: Weights) => Promise<{ loss: number; gradients: Map<string, Numbers> }>> {
  const inputs = rows.map((row) => row.slice(0, -1));
  const targets = rows.map((row) => row.slice(1));
  const { graph, hidden, head, parameters } = forward(config, rows.length, inputs[0]!.length, options);
  const chosen = graph.input('targets', 'int64', [targets.flat().length]);
  const loss = reshape(neg(mean(tokenLogprobs(hidden, head, chosen).logprobs)), []);
  graph.output('loss', loss);
  const names = [...parameters.keys()];
  for (const [i, gradient] of gradients(loss, [...parameters.values()]).entries()) {
    graph.output(`gradient:${names[i]}`, gradient);
  }
  const run = await session(graph);
  return async (weights) => {
    const outputs = await run(weights, { tokens: inputs, targets });
    return {
      loss: outputs.loss![0]!,
      gradients: new Map(names.map((name) => [name, outputs[`gradient:${name}`]!])),
    };
  };
}
