import { ArgumentError, type Weights } from '@rlp/core';
import {
  correctionNames,
  linearLayers,
  parameterSpecs,
  type QuantizedForm,
  quantizeWeights,
} from '@rlp/models/decoder';
import { operatorsOf } from '@rlp/onnx/layers';
import { type Engine, type ParameterSpec, programUrl, type RunningProgram } from '@rlp/onnx/runtime';
import {
  type OnnxBackendOptions,
  type ResolvedOnnxBackendOptions,
  resolveBackendOptions,
} from './backend-options.ts';
import { layoutCosts } from './batch/layout-costs.ts';
import type { PackingOptions } from './batch/packing.ts';
import { memoryForecast } from './memory/forecast.ts';
import { OnnxTrainingBackend } from './onnx-backend.ts';
import { kindOf } from './optimizer/options.ts';
import { withRoles } from './optimizer/roles.ts';
import { stateSpecs } from './optimizer/state-specs.ts';
import type { TrainedParameter } from './optimizer/update-rule.ts';
import { adamwSlots } from './program/slot-optimizer.ts';
import type { TrainingProgramOptions } from './program-protocol.ts';
import type { ModelPlan, TrainingMethods } from './train.program.ts';
import { FullWeights, type FullWeightsParts } from './weights/full-weights.ts';
import { mergePlan } from './weights/lora-graphs.ts';
import { type LoraPlan, planCorrection } from './weights/lora-plan.ts';
import { LoraWeights } from './weights/lora-weights.ts';
import { type LoraTarget, type MergePlan, trainedOf } from './weights/merge-plan.ts';
import { savingWith } from './weights/model-files.ts';
import {
  checkedWeights,
  checkWeights,
  deleteStores,
  type PolicyWeights,
  toWeights,
  zeros,
} from './weights/policy-weights.ts';
import { initialHead, valueHeadSpec } from './weights/value-head.ts';

/** Parts that differ between full training and a low-rank correction. */
interface Plan {
  /** Stores to create, with their initial contents. The trained store comes first. */
  readonly stores: readonly {
    readonly name: string;
    readonly weights: Weights;
    /** Weights that the contents were made from. Default: the contents. */
    readonly origin?: Weights;
    readonly slots?: readonly string[];
  }[];
  readonly trained: readonly TrainedParameter[];
  readonly lora: LoraPlan | undefined;
  readonly merge: MergePlan | undefined;
}

/**
 * Starts training a model on ONNX Runtime.
 *
 * The weights are copied into the engine's store `options.store`. A sampler in the same engine reads them
 * there after `publish()`. With low-rank adaptation, `publish()` first writes the merged weights there. If
 * you drop `model`, its memory is freed with the first step.
 *
 * @example
 * const backend = await createOnnxBackend({ engine, model, learningRate: 1e-4 });
 * backend.forwardBackward({ sequences }, loss);
 * const { gradientNorm } = await backend.optimStep();
 *
 * @throws OptionsError naming every invalid option.
 * @throws ArgumentError if the model's weights do not fit its config, or if a store of that name exists.
 */
export async function createOnnxBackend(options: OnnxBackendOptions): Promise<OnnxTrainingBackend> {
  const given = resolveBackendOptions(options);
  const model = { ...given.model, weights: checkedWeights('createOnnxBackend', given.model.weights) };
  const resolved = { ...given, model };
  const { engine, lora, optimizer } = resolved;
  if (kindOf(optimizer) === 'adamw-8bit') requireHost(engine, "optimizer 'adamw-8bit'", "use 'adamw'");
  const parameters = parameterSpecs(model.config).map(({ name, shape }) => ({ name, shape }));
  checkWeights('createOnnxBackend', parameters, model.weights);
  const valueHead = valueHeadSpec(model.config, resolved.valueHead);
  const head = initialHead(valueHead, resolved.valueHead);
  const plan =
    lora === undefined
      ? planFull(resolved, parameters, head)
      : lora.base === 'float32'
        ? planLora(resolved, await planCorrection(model, lora), head)
        : planQuantized(resolved, await planCorrection(model, lora), lora.base, head);
  await createStores(engine, plan);
  try {
    return await startBackend(resolved, plan, parameters, valueHead);
  } catch (error) {
    await deleteStores(
      engine,
      plan.stores.map(({ name }) => name),
    );
    throw error;
  }
}

/** @throws ArgumentError if weights are in the memory of a device. */
function requireHost({ executionProvider }: Engine, option: string, remedy: string): void {
  if (executionProvider === 'cpu') return;
  throw new ArgumentError(
    `createOnnxBackend: ${option} needs the provider cpu, got ${executionProvider}; ${remedy}`,
  );
}

function planFull(
  options: ResolvedOnnxBackendOptions,
  parameters: readonly ParameterSpec[],
  head: Weights,
): Plan {
  const { model, store } = options;
  return {
    stores: [{ name: store, weights: new Map([...model.weights, ...head]), slots: trainingSlots(options) }],
    trained: withRoles(model.config, [...parameters, ...specsOf(head)]),
    lora: undefined,
    merge: undefined,
  };
}

/** Quantized frozen weights are published as they are, beside the factors of their correction. */
function planQuantized(
  options: ResolvedOnnxBackendOptions,
  lora: LoraPlan,
  form: QuantizedForm,
  head: Weights,
): Plan {
  const { engine, model, store } = options;
  const { targets, modules, scale } = lora;
  requireHost(engine, `lora.base '${form}'`, "use 'float32'");
  const layers = linearLayers(model.config);
  const published = targets.flatMap(({ layer, down, up }) => {
    const names = correctionNames(layer.weight);
    return zeros([
      { ...down, name: names.down },
      { ...up, name: names.up },
    ]);
  });
  return {
    ...correctionPlan(options, lora, head, [
      {
        name: store,
        weights: new Map([...quantizeWeights(model.weights, layers, form), ...toWeights(published)]),
        origin: model.weights,
      },
    ]),
    merge: {
      ...{ kind: 'quantized', store, scale, layers, form, targets, modules },
      parameters: parameterSpecs(model.config).map(({ name, shape }) => ({ name, shape })),
    },
  };
}

function planLora(options: ResolvedOnnxBackendOptions, lora: LoraPlan, head: Weights): Plan {
  const { model, store } = options;
  const { targets } = lora;
  const adapted = new Set(targets.map(({ layer }) => layer.weight));
  const base = new Map([...model.weights].filter(([name]) => adapted.has(name)));
  return {
    ...correctionPlan(options, lora, head, [
      { name: `${store}/base`, weights: base },
      { name: store, weights: model.weights },
    ]),
    merge: mergePlan(lora, store),
  };
}

/** What is trained of a correction, before frozen stores. */
function correctionPlan(
  options: ResolvedOnnxBackendOptions,
  lora: LoraPlan,
  head: Weights,
  frozen: Plan['stores'],
): Omit<Plan, 'merge'> {
  const { targets, modules, factors } = lora;
  if (lora.dropout > 0) requireHost(options.engine, `lora.dropout ${lora.dropout}`, 'use 0');
  const weights = new Map([...factors, ...head]);
  return {
    stores: [{ name: `${options.store}/adapter`, weights, slots: trainingSlots(options) }, ...frozen],
    trained: [
      ...targets.flatMap(correctionParameters),
      ...withRoles(options.model.config, [...modules, ...specsOf(head)]),
    ],
    lora,
  };
}

function correctionParameters(target: LoraTarget): TrainedParameter[] {
  const roleOf = (spec: ParameterSpec) => (spec === target.magnitude ? 'other' : 'linear');
  return trainedOf(target).map((spec) => ({ ...spec, role: roleOf(spec) }));
}

/** Slots of the trained parameters. AdamW's state lies beside them, unless a device has no such memory; then nothing is written to it. */
function trainingSlots({ optimizer }: ResolvedOnnxBackendOptions): readonly string[] {
  return ['gradient', ...(kindOf(optimizer) === 'adamw' ? adamwSlots : [])];
}

function specsOf(weights: Weights): ParameterSpec[] {
  return [...weights].map(([name, { shape }]) => ({ name, shape }));
}

async function createStores(engine: Engine, plan: Plan): Promise<void> {
  const taken = plan.stores.find(({ name }) => engine.hasStore(name));
  if (taken !== undefined) {
    throw new ArgumentError(
      `createOnnxBackend: the engine has a store "${taken.name}" already; give this backend another one, such as ` +
        "`store: 'critic'`, or create it before the sampler that shares its store",
    );
  }
  const made: string[] = [];
  try {
    for (const { name, weights, origin, slots = [] } of plan.stores) {
      await engine.createStore({ name, parameters: specsOf(weights), slots }, weights, origin);
      made.push(name);
    }
  } catch (error) {
    await deleteStores(engine, made);
    throw error;
  }
}

async function startBackend(
  options: ResolvedOnnxBackendOptions,
  plan: Plan,
  parameters: readonly ParameterSpec[],
  valueHead: ParameterSpec | undefined,
): Promise<OnnxTrainingBackend> {
  const { engine, store } = options;
  const { config } = options.model;
  const program = await engine.start<TrainingMethods>(
    { url: programUrl(import.meta.url, './train.program'), load: () => import('./train.program.ts') },
    { ...programOptions(options, plan), model: modelPlan(options, plan, valueHead) },
  );
  const packing: PackingOptions = {
    vocabularySize: config.vocabularySize,
    contextLength: config.contextLength,
    tokensPerMicroBatch: options.tokensPerMicroBatch,
    ...layoutCosts(config, engine),
    // Each sequence has its own masks.
    trainedPrefixes: plan.lora && plan.lora.dropout > 0 ? 'apart' : 'shared',
  };
  return new OnnxTrainingBackend({
    program,
    weights: weightsOf(options, plan, { parameters, valueHead }, program),
    optimizer: {
      kind: kindOf(options.optimizer),
      state: stateSpecs(options.optimizer, plan.trained),
    },
    packing,
    shares: { engine, store },
    reference: options.reference,
    forecastMemory: memoryForecast(options, packing, plan.lora && kindOfCorrection(plan.lora)),
  });
}

/** What memory depends on. */
function kindOfCorrection({ rank, base, variant, dropout, modulesToSave }: LoraPlan) {
  return { rank, base, variant, dropout, modulesToSave: [...modulesToSave] };
}

function modelPlan(
  { engine, model, activations, precision }: ResolvedOnnxBackendOptions,
  { lora, trained }: Plan,
  valueHead: ParameterSpec | undefined,
): ModelPlan {
  const ops = operatorsOf(engine.executionProvider);
  return {
    decoder: { config: model.config, activations, ops, precision, lora, valueHead },
    trained: trained.map(({ name }) => name),
    residency: engine.residency,
  };
}

function weightsOf(
  { engine, model, store }: ResolvedOnnxBackendOptions,
  { stores, lora }: Plan,
  specs: Pick<FullWeightsParts, 'parameters' | 'valueHead'>,
  program: RunningProgram<TrainingMethods>,
): PolicyWeights {
  const shared = { engine, program, ...specs };
  if (lora !== undefined) {
    const names = stores.map(({ name }) => name);
    const { factors: _, ...plan } = lora;
    return new LoraWeights({
      ...shared,
      stores: names,
      plan,
      config: model.config,
      save: savingWith(model),
    });
  }
  return new FullWeights({ ...shared, store, save: savingWith(model) });
}

function programOptions(options: ResolvedOnnxBackendOptions, plan: Plan): TrainingProgramOptions {
  const [trainable, ...frozen] = plan.stores.map(({ name }) => name);
  return {
    trainable: trainable!,
    frozen,
    reference: options.reference === 'initial' ? `${options.store}/reference` : undefined,
    scratch: `${options.store}/scratch`,
    parameters: plan.trained,
    optimizerState: `${options.store}/optimizer`,
    point: `${options.store}/point`,
    optimizer: options.optimizer,
    schedule: options.schedule,
    learningRate: options.learningRate,
    maxGradientNorm: options.maxGradientNorm,
    precision: options.precision,
    dropout: plan.lora && { rate: plan.lora.dropout, seed: plan.lora.seed },
    merge: plan.merge,
  };
}
