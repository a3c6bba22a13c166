import {
  ArgumentError,
  type HostTensor,
  numbersOf,
  RandomStream,
  requireArguments,
  type Weights,
} from '@rlp/core';
import {
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
import { linearLayers, moduleParameters } from '@rlp/models/decoder';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { BackendLoraOptions, LoraOptions } from '../backend-options.ts';
import { factorNames, loraTargets, targetsOf } from './lora-targets.ts';
import { requireLowRank } from './low-rank.ts';
import type { LoraTarget } from './merge-plan.ts';

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

/** What a plan reads of a model. */
type AdaptedModel = Pick<LanguageModel, 'config' | 'folder' | 'weights'>;

/**
 * Decides what is adapted and where it starts.
 *
 * @throws ArgumentError for targets that are not linear layers, and for a rank above that of all of them. FormatError for an adapter of an unsupported kind.
 */
export async function planCorrection(model: AdaptedModel, options: LoraOptions): Promise<LoraPlan> {
  const { adapter } = options;
  return adapter === undefined ? zeroPlan(model, options) : readPlan(adapter, model, options);
}

/**
 * Checks the option `lora` of a backend against the shape of a model, before its weights are loaded. Reads no adapter.
 *
 * @throws ArgumentError for targets that are not linear layers, modules that the model lacks, and a rank above that of all layers.
 */
export function requireCorrection(config: ModelConfig, options: BackendLoraOptions): void {
  requireArguments('requireCorrection', { config: 'object', options: 'object' }, config, options);
  correctedLayers(config, options);
}

/** What a correction that begins at zero trains. */
function correctedLayers(
  config: ModelConfig,
  options: BackendLoraOptions,
): Pick<LoraPlan, 'targets' | 'modules'> {
  const { rank = 8, variant = 'lora', targets: names, modulesToSave = [], base = 'float32' } = options;
  const modules = modulesOf(config, modulesToSave, base);
  const targets = loraTargets(config, { rank, variant, targets: names, modules });
  requireLowRank(rank, targets);
  return { targets, modules };
}

/** A correction that is zero at first. */
function zeroPlan({ config, folder, weights }: AdaptedModel, options: LoraOptions): LoraPlan {
  const { rank = 8, alpha = 16, scaling = 'rank', variant = 'lora' } = options;
  const { seed, base, dropout = 0, modulesToSave = [], baseModel = nameOf(folder) } = options;
  const { targets, modules } = correctedLayers(config, options);
  const factors = new Map([
    ...initialFactors(targets, weights, seed),
    ...modules.map((module) => [module.name, weights.get(module.name)!] as const),
  ]);
  const settings = { variant, rank, alpha, scaling, modulesToSave, dropout, baseModel };
  return { ...settings, base, seed, scale: loraScale(settings), targets, modules, factors };
}

/** The correction in a folder. */
async function readPlan(
  adapter: string,
  { config, folder }: AdaptedModel,
  { seed, base, baseModel, dropout }: LoraOptions,
): Promise<LoraPlan> {
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
    baseModel: baseModel ?? nameOf(folder) ?? read.baseModel,
    targets: targetsOf(read, config, adapter),
    modules: modulesOf(config, read.modulesToSave, base),
    factors: factorsOf(read),
  };
}

/** Name of a model on the hub, or else its folder. */
function nameOf(folder: string | undefined): string | undefined {
  return folder === undefined ? undefined : (hubNameOf(folder) ?? folder);
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
