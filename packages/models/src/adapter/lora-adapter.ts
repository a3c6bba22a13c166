import { FormatError, type HostTensor, requireArguments, requireFields, type Weights } from '@rlp/core';
import { recoverDirectory } from '@rlp/data/store';
import * as z from 'zod';
import type { ModelConfig } from '../config/model-config.ts';
import { configError, parseContent, readJsonObject } from '../config/validation.ts';
import type { LinearLayer } from '../decoder/layout.ts';
import { linearLayers } from '../decoder/parameters.ts';
import { nodePath } from '../node-files.ts';
import { readSafetensors } from '../safetensors/read.ts';
import { moduleTensorNames, readModules } from './saved-modules.ts';

/** Divisor of alpha: the rank, or its square root (rsLoRA). */
export type LoraScaling = 'rank' | 'root-rank';

/** `'dora'` also trains the length of each row of a corrected weight. */
export type LoraVariant = 'lora' | 'dora';

/**
 * A low-rank correction of some linear layers, `V = W + scale · B · A`, beside which other modules may be trained in full.
 *
 * With DoRA the weight is `m · V / ‖V‖`, where `m` and the norm have a number for each output.
 *
 * @see Liu et al. 2024 (DoRA), https://arxiv.org/abs/2402.09353
 */
export interface LoraAdapter {
  /** Kind of the correction. */
  readonly variant: LoraVariant;
  /** Columns of `A` and rows of `B` in common, 1 and up. */
  readonly rank: number;
  /** Strength of the correction, above 0. */
  readonly alpha: number;
  /** How rank and alpha give `scale`. */
  readonly scaling: LoraScaling;
  /** Factor of `B · A`, from the three above. */
  readonly scale: number;
  /** Share of the corrections' inputs that were dropped in training. It changes no result. */
  readonly dropout: number;
  /** Folder or name of the model that it belongs to, if the adapter names it. */
  readonly baseModel: string | undefined;
  /** Ends of the paths of modules that were trained in full. */
  readonly modulesToSave: readonly string[];
  /** Parameters of those modules, by the model's names. */
  readonly modules: Weights;
  readonly layers: readonly {
    readonly layer: LinearLayer;
    /** `A`, `[rank, inputs]`. */
    readonly down: HostTensor;
    /** `B`, `[outputs, rank]`. */
    readonly up: HostTensor;
    /** `m`, `[outputs]`. Present with DoRA. */
    readonly magnitude?: HostTensor | undefined;
  }[];
}

/** What `adapter_config.json` says of an adapter. */
export type LoraSettings = Pick<
  LoraAdapter,
  'variant' | 'rank' | 'alpha' | 'scaling' | 'dropout' | 'baseModel' | 'modulesToSave'
>;

/** File of an adapter's settings. */
export const adapterConfigFile = 'adapter_config.json';

/** File of an adapter's factors. */
export const adapterWeightsFile = 'adapter_model.safetensors';

const schema = z.looseObject({
  peft_type: z.literal('LORA', 'only LoRA adapters are supported').optional(),
  r: z.int().min(1),
  lora_alpha: z.number().positive(),
  lora_dropout: z.number().min(0).lt(1).nullish(),
  use_rslora: z.boolean().nullish(),
  use_dora: z.boolean().nullish(),
  base_model_name_or_path: z.string().nullish(),
  modules_to_save: z.array(z.string().min(1)).nullish(),
});

/** Fields that change what an adapter computes, with what they ask for. Each may be absent, `null`, `false` or empty. */
const unsupported: Readonly<Record<string, string>> = {
  use_qalora: 'QALoRA groups its inputs',
  use_bdlora: 'BD-LoRA factors in blocks',
  alora_invocation_tokens: 'aLoRA acts after certain tokens only',
  rank_pattern: 'layers have different ranks',
  alpha_pattern: 'layers have different scales',
  layer_replication: 'layers are repeated',
  layers_to_transform: 'only some layers are adapted',
  lora_bias: 'its factors have biases',
  target_parameters: 'parameters are adapted that belong to no linear layer',
  trainable_token_indices: 'embeddings of single tokens are trained',
  arrow_config: 'Arrow routes between adapters',
  kasa_config: 'KaSA changes the weights of the base model',
  monteclora_config: 'MonteCLoRA draws its factors',
};

/** Initialisations that change the weights of the base model, by the first letters of their names. */
const changesBase = /^(pissa|olora|loftq|corda|lora_ga)/i;

/**
 * Reads the settings of an adapter in PEFT's `adapter_config.json`.
 *
 * @throws FormatError for another method than LoRA, rsLoRA and DoRA, and for variants that compute something else.
 */
export function parseAdapterConfig(content: unknown, file: string): LoraSettings {
  const config = parseContent(schema, content, file);
  const remedy = 'merge the adapter into its model with PEFT (merge_and_unload) and load the merged model';
  for (const [field, reason] of Object.entries(unsupported)) {
    const value = config[field];
    if (isOff(value)) continue;
    throw configError(file, field, `not supported, got ${JSON.stringify(value)}: ${reason}`, remedy);
  }
  const { bias = 'none', init_lora_weights: initial } = config;
  if (bias !== 'none') {
    throw configError(file, 'bias', `only 'none' is supported, got ${JSON.stringify(bias)}`, remedy);
  }
  if (typeof initial === 'string' && changesBase.test(initial)) {
    const problem = `'${initial}' changes the weights of the base model, which the adapter then does not fit`;
    throw configError(file, 'init_lora_weights', problem, remedy);
  }
  return {
    variant: config.use_dora === true ? 'dora' : 'lora',
    rank: config.r,
    alpha: config.lora_alpha,
    scaling: config.use_rslora === true ? 'root-rank' : 'rank',
    dropout: config.lora_dropout ?? 0,
    baseModel: config.base_model_name_or_path ?? undefined,
    modulesToSave: config.modules_to_save ?? [],
  };
}

function isOff(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Factor of a correction. */
export function loraScale(settings: Pick<LoraSettings, 'rank' | 'alpha' | 'scaling'>): number {
  const { rank, alpha, scaling } = requireFields('loraScale', { rank: 'number', alpha: 'number' }, settings);
  return alpha / (scaling === 'rank' ? rank : Math.sqrt(rank));
}

/**
 * Reads a LoRA adapter in PEFT's files, `adapter_config.json` and `adapter_model.safetensors`.
 *
 * @param config - Of the model that it corrects.
 * @throws FormatError if a file is missing, malformed or not supported, or if the factors do not fit the model.
 */
export async function readLoraAdapter(folder: string, config: ModelConfig): Promise<LoraAdapter> {
  requireArguments('readLoraAdapter', { folder: 'text', config: 'object' }, folder, config);
  await recoverDirectory(folder);
  const file = nodePath().join(folder, adapterConfigFile);
  const json = await readJsonObject(file);
  if (!json) throw new FormatError(`${file}: no such file; give the folder of a PEFT adapter`);
  const settings = parseAdapterConfig(json, file);
  const path = nodePath().join(folder, adapterWeightsFile);
  const tensors = await readSafetensors(path);
  const layers = linearLayers(config).flatMap((layer) => factorsOf(layer, settings, tensors, path));
  const modules = readModules(config, settings.modulesToSave, tensors, path);
  const own = new Set([
    ...layers.flatMap(({ layer }) => Object.values(adapterTensorNames(layer.weight))),
    ...moduleTensorNames(config, modules).keys(),
  ]);
  const others = [...tensors.keys()].filter((name) => !own.has(name));
  if (layers.length === 0 || others.length > 0) {
    throw new FormatError(`${path}: ${strangers(others)}; give the adapter of this model`);
  }
  return { ...settings, scale: loraScale(settings), layers, modules };
}

/** PEFT's names of a weight's factors, as in its files. */
export function adapterTensorNames(weight: string): Readonly<Record<'down' | 'up' | 'magnitude', string>> {
  requireArguments('adapterTensorNames', { weight: 'text' }, weight);
  const module = `base_model.model.${weight.replace(/\.weight$/, '')}`;
  return {
    down: `${module}.lora_A.weight`,
    up: `${module}.lora_B.weight`,
    magnitude: `${module}.lora_magnitude_vector`,
  };
}

function factorsOf(
  layer: LinearLayer,
  { rank, variant }: LoraSettings,
  tensors: Weights,
  path: string,
): LoraAdapter['layers'] {
  const names = adapterTensorNames(layer.weight);
  const [down, up, magnitude] = [
    tensors.get(names.down),
    tensors.get(names.up),
    tensors.get(names.magnitude),
  ];
  if (down === undefined && up === undefined) return [];
  if (variant === 'dora' && magnitude?.shape.join() !== `${layer.outputs}`) {
    throw new FormatError(
      `${path}: expected ${names.magnitude} [${layer.outputs}], because use_dora is true, got ${shapeOf(magnitude)}`,
    );
  }
  const fits =
    down?.shape.join() === `${rank},${layer.inputs}` && up?.shape.join() === `${layer.outputs},${rank}`;
  if (fits) return [{ layer, down, up: up!, ...(variant === 'dora' && { magnitude }) }];
  throw new FormatError(
    `${path}: ${names.down.replace('.lora_A.weight', '')}: expected lora_A [${rank}, ${layer.inputs}] and lora_B ` +
      `[${layer.outputs}, ${rank}], got ${shapeOf(down)} and ${shapeOf(up)}; is it of another model?`,
  );
}

function shapeOf(tensor: HostTensor | undefined): string {
  return tensor === undefined ? 'none' : `[${tensor.shape.join(', ')}]`;
}

/** Names tensors that an adapter of the model does not have. */
function strangers(others: readonly string[]): string {
  const shown = others.slice(0, 3).map((name) => `"${name}"`);
  return others.length === 0
    ? 'holds no factors'
    : `expected two factors for each adapted linear layer of the decoder, got ${shown.join(', ')}` +
        (others.length > shown.length ? ` and ${others.length - shown.length} more` : '');
}
