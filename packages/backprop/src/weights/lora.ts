import { ArgumentError, type HostTensor, numbersOf, RandomStream, type Weights } from '@rlp/core';
import {
  adapterTensorNames,
  checkBaseModel,
  hubNameOf,
  type LanguageModel,
  type LoraAdapter,
  type LoraSettings,
  loraScale,
  type ModelConfig,
  outputNorms,
  readLoraAdapter,
} from '@rlp/models';
import { type LinearLayer, linearLayers, moduleParameters } from '@rlp/models/decoder';
import { Graph, serialize, type Value } from '@rlp/onnx';
import {
  add,
  div,
  gemm,
  identity,
  mul,
  sqrt,
  square,
  stopGradient,
  sub,
  sum,
  unsqueeze,
} from '@rlp/onnx/ops';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { LoraOptions } from '../backend-options.ts';
import { requireLowRank } from './low-rank.ts';
import { type LoraTarget, type MergeGraphPlan, trainedOf } from './merge-plan.ts';

/** A low-rank correction with everything decided: by options, or by the files of an adapter. */
export interface LoraPlan extends LoraSettings {
  readonly scale: number;
  /** Seed of the masks of dropout. */
  readonly seed: string | number;
  /** How the frozen linear layers are stored. */
  readonly base: LoraOptions['base'];
  readonly targets: readonly LoraTarget[];
  /** Parameters that are trained in full. */
  readonly modules: readonly ParameterSpec[];
  /** Where training starts: factors of the correction, and the modules. */
  readonly factors: Weights;
}

const peftPrefix = 'base_model.model.';

/** Names of a weight's factors. `….q_proj.weight` has `….q_proj.lora_A.weight`. */
function factorNames(weight: string): ReturnType<typeof adapterTensorNames> {
  const { down, up, magnitude } = adapterTensorNames(weight);
  const own = (name: string) => name.replace(peftPrefix, '');
  return { down: own(down), up: own(up), magnitude: own(magnitude) };
}

/**
 * Decides what is adapted and where it starts.
 *
 * @throws ArgumentError for targets that are not linear layers, and for a rank above that of all of them. FormatError for an adapter of an unsupported kind.
 */
export async function planCorrection(
  { config, folder, weights }: Pick<LanguageModel, 'config' | 'folder' | 'weights'>,
  options: LoraOptions,
): Promise<LoraPlan> {
  const name = folder === undefined ? undefined : (hubNameOf(folder) ?? folder);
  const { rank = 8, alpha = 16, scaling = 'rank', variant = 'lora', targets: names } = options;
  const { seed, adapter, baseModel, base, dropout, modulesToSave = [] } = options;
  if (adapter === undefined) {
    const modules = modulesOf(config, modulesToSave, base);
    const targets = loraTargets(config, { rank, variant, targets: names, modules });
    requireLowRank(rank, targets);
    const factors = new Map([
      ...initialFactors(targets, weights, seed),
      ...modules.map((module) => [module.name, weights.get(module.name)!] as const),
    ]);
    const settings = {
      ...{ variant, rank, alpha, scaling, modulesToSave },
      ...{ dropout: dropout ?? 0, baseModel: baseModel ?? name },
    };
    return { ...settings, base, seed, scale: loraScale(settings), targets, modules, factors };
  }
  const read = await readLoraAdapter(adapter, config);
  if (read.variant === 'dora' && base !== 'float32') {
    throw new ArgumentError(`lora.adapter: ${adapter} is of DoRA, which needs lora.base 'float32'`);
  }
  const share = dropout ?? read.dropout;
  if (read.variant === 'dora' && share > 0) {
    throw new ArgumentError(
      `lora.adapter: ${adapter} is of DoRA with a dropout of ${share}, which are not combined here; pass dropout: 0`,
    );
  }
  if (baseModel === undefined) await checkBaseModel(read.baseModel, folder);
  return {
    ...read,
    base,
    seed,
    dropout: share,
    baseModel: baseModel ?? name ?? read.baseModel,
    targets: targetsOf(read, config, adapter),
    modules: modulesOf(config, read.modulesToSave, base),
    factors: factorsOf(read),
  };
}

/** @throws ArgumentError if a name stands for no module, or for a quantized layer. */
function modulesOf(config: ModelConfig, names: readonly string[], base: LoraPlan['base']): ParameterSpec[] {
  const modules = moduleParameters(config, names).map(({ name, shape }) => ({ name, shape }));
  const linear = new Set(linearLayers(config).map(({ weight }) => weight));
  const stored = base === 'float32' ? undefined : modules.find(({ name }) => linear.has(name));
  if (stored === undefined) return modules;
  throw new ArgumentError(
    `lora.modulesToSave: ${stored.name} is stored in ${base === 'int8' ? 8 : 4} bits and cannot be trained in full; use lora.base 'float32', or a correction`,
  );
}

/** Trained parameters of an adapter, by their names: factors and modules. */
export function factorsOf({ layers, modules }: LoraAdapter): Weights {
  return new Map([
    ...modules,
    ...layers.flatMap(({ layer, ...factors }) => {
      const names = factorNames(layer.weight);
      return (['down', 'up', 'magnitude'] as const).flatMap((kind) =>
        factors[kind] === undefined ? [] : [[names[kind], factors[kind]] as const],
      );
    }),
  ]);
}

/** @throws ArgumentError if the adapter corrects only some of the layers of a name. */
function targetsOf(
  { variant, rank, layers }: LoraAdapter,
  config: ModelConfig,
  folder: string,
): LoraTarget[] {
  const targets = loraTargets(config, {
    variant,
    rank,
    targets: [...new Set(layers.map(({ layer }) => moduleOf(layer)))],
  });
  if (targets.length === layers.length) return targets;
  const has = new Set(layers.map(({ layer }) => layer.weight));
  const missing = targets.find(({ layer }) => !has.has(layer.weight))!;
  throw new ArgumentError(
    `lora.adapter: ${folder} has no factors for ${missing.layer.weight}, though it adapts other layers of that name; ` +
      'merge it into its model with PEFT (merge_and_unload) and load the merged model',
  );
}

/**
 * Linear layers that get a correction: those named in `targets`. Default: all linear layers of the decoder.
 *
 * @throws ArgumentError if a target names no linear layer. The message lists the known names.
 */
function loraTargets(
  config: ModelConfig,
  {
    variant,
    rank,
    targets,
    modules = [],
  }: Pick<LoraSettings, 'variant' | 'rank'> & {
    readonly targets?: readonly string[] | undefined;
    readonly modules?: readonly ParameterSpec[];
  },
): LoraTarget[] {
  const layers = linearLayers(config);
  const known = new Set(layers.map(moduleOf));
  const unknown = (targets ?? []).filter((target) => !known.has(target));
  if (unknown.length > 0) {
    throw new ArgumentError(
      `lora: no linear layer is named ${unknown.map((target) => `"${target}"`).join(', ')}; ` +
        `this model has ${[...known].join(', ')}`,
    );
  }
  const whole = new Set(modules.map(({ name }) => name));
  const chosen = new Set(targets ?? known);
  const twice = targets && layers.find((layer) => chosen.has(moduleOf(layer)) && whole.has(layer.weight));
  if (twice !== undefined) {
    throw new ArgumentError(
      `lora: targets and modulesToSave both name ${twice.weight}; train it by a correction or in full`,
    );
  }
  return layers
    .filter((layer) => chosen.has(moduleOf(layer)) && !whole.has(layer.weight))
    .map((layer) => {
      const { down, up, magnitude } = factorNames(layer.weight);
      return {
        layer,
        down: { name: down, shape: [rank, layer.inputs] },
        up: { name: up, shape: [layer.outputs, rank] },
        ...(variant === 'dora' && { magnitude: { name: magnitude, shape: [layer.outputs] } }),
      };
    });
}

function moduleOf({ weight }: LinearLayer): string {
  return weight.split('.').at(-2)!;
}

/**
 * Factors of a zero correction. B is zero. A is uniform in ±1/√in, drawn from the stream `(seed, name)`. DoRA's lengths are those of
 * the rows of the weight.
 *
 * This is PEFT's Kaiming initialisation.
 *
 * @see Hu et al. 2021, https://arxiv.org/abs/2106.09685
 */
function initialFactors(targets: readonly LoraTarget[], weights: Weights, seed: string | number): Weights {
  const factors = new Map<string, HostTensor>();
  for (const { layer, down, up, magnitude } of targets) {
    const random = RandomStream.named('lora', seed, down.name);
    const [rank, inputs] = down.shape as [number, number];
    const bound = 1 / Math.sqrt(inputs);
    const data = Float32Array.from({ length: rank * inputs }, () => bound * (2 * random.uniform() - 1));
    factors.set(down.name, { shape: down.shape, data });
    factors.set(up.name, { shape: up.shape, data: new Float32Array(up.shape[0]! * rank) });
    if (magnitude !== undefined) {
      const lengths = outputNorms(numbersOf(weights.get(layer.weight)!), layer);
      factors.set(magnitude.name, { shape: magnitude.shape, data: lengths });
    }
  }
  return factors;
}

/**
 * Output of a linear layer with its correction, `y + scale · (x · Aᵀ) · Bᵀ`.
 *
 * @param x - `[N, inputs]`
 * @param y - `[N, outputs]`
 */
export function corrected(
  y: Value,
  x: Value,
  { down, up }: { down: Value; up: Value },
  scale: number,
): Value {
  const narrow = gemm(x, down, { transposeB: 'yes' });
  return add(y, gemm(mul(narrow, scale), up, { transposeB: 'yes' }));
}

/** What DoRA computes an output from, besides its correction. */
interface DoraValues {
  readonly down: Value;
  readonly up: Value;
  readonly magnitude: Value;
  readonly base: Value;
  readonly bias?: Value | undefined;
}

/**
 * Output of a layer of DoRA: `y` without its bias, in the lengths of the rows. As in PEFT no gradient flows through the norms.
 *
 * @param y - Output of the layer with its low-rank correction, `[N, outputs]`.
 */
export function relengthened(
  y: Value,
  { down, up, magnitude, base, bias }: DoraValues,
  order: LinearLayer['order'],
  scale: number,
): Value {
  const factors = rowFactors(stopGradient(mergedWeight(base, { down, up }, order, scale)), magnitude, order);
  return bias === undefined ? mul(y, factors) : add(mul(sub(y, bias), factors), bias);
}

/** `m / ‖V‖`, `[outputs]`. */
function rowFactors(weight: Value, magnitude: Value, order: LinearLayer['order']): Value {
  const axes = order === 'out-in' ? 1 : 0;
  return div(magnitude, sqrt(sum(square(weight), { axes })));
}

/**
 * Graph that computes the corrected weight of every target, `W + scale · B · A`, in the lengths of DoRA, and hands on modules that are
 * trained in full.
 */
export function mergePlan(
  { targets, modules, scale }: Pick<LoraPlan, 'targets' | 'modules' | 'scale'>,
  store: string,
): MergeGraphPlan {
  const graph = new Graph();
  for (const { name, shape } of modules) {
    graph.output(`merged:${name}`, identity(graph.input(name, 'float32', shape)));
  }
  for (const target of targets) {
    const { layer, down, up, magnitude } = target;
    const stored = layer.order === 'out-in' ? [layer.outputs, layer.inputs] : [layer.inputs, layer.outputs];
    const base = graph.input(layer.weight, 'float32', stored);
    const input = ({ name, shape }: ParameterSpec) => graph.input(name, 'float32', shape);
    const merged = mergedWeight(base, { down: input(down), up: input(up) }, layer.order, scale);
    const whole = magnitude === undefined ? merged : inLengths(merged, input(magnitude), layer.order);
    graph.output(`merged:${layer.weight}`, whole);
  }
  return {
    kind: 'graph',
    model: serialize(graph),
    store,
    parameters: [
      ...modules.map(({ name }) => name),
      ...targets.flatMap((target) => [target.layer.weight, ...trainedOf(target).map(({ name }) => name)]),
    ],
    merged: [...modules.map(({ name }) => name), ...targets.map(({ layer }) => layer.weight)],
  };
}

function inLengths(weight: Value, magnitude: Value, order: LinearLayer['order']): Value {
  const factors = rowFactors(weight, magnitude, order);
  return mul(weight, order === 'out-in' ? unsqueeze(factors, 1) : factors);
}

function mergedWeight(
  base: Value,
  { down, up }: { down: Value; up: Value },
  order: LinearLayer['order'],
  scale: number,
): Value {
  return order === 'out-in'
    ? gemm(up, down, { alpha: scale, bias: base })
    : gemm(down, up, { transposeA: 'yes', transposeB: 'yes', alpha: scale, bias: base });
}

/** Graph that corrects any one weight: inputs `base`, `down` and `up`, output `merged`. */
export function mergeGraph(order: LinearLayer['order'], scale: number): Uint8Array {
  const graph = new Graph();
  const stored = order === 'out-in' ? ['outputs', 'inputs'] : ['inputs', 'outputs'];
  const down = graph.input('down', 'float32', ['rank', 'inputs']);
  const up = graph.input('up', 'float32', ['outputs', 'rank']);
  const base = graph.input('base', 'float32', stored);
  graph.output('merged', mergedWeight(base, { down, up }, order, scale));
  return serialize(graph);
}
