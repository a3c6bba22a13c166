import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FormatError } from '@rlp/core';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { type LanguageModel, loadModel, modelFolder, parseHubName } from '@rlp/models';
import { createEngine, type EngineOptions } from '@rlp/onnx/runtime';
import { missingModel, savedModel } from '@rlp/run';
import { UsageError } from './usage-error.ts';

/** A model that is ready to answer. */
export interface OpenPolicy extends AsyncDisposable {
  /** Folder that the model was loaded from. */
  readonly folder: string;
  readonly model: LanguageModel;
  readonly inference: InferenceModule;
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * The folder of a model: the one given, the best or last model of a run's folder, the model of one checkpoint, or a model of the hub in
 * its cache.
 *
 * @throws FormatError if there is no model.
 */
async function policyFolder(path: string): Promise<string> {
  if (path === '') throw new UsageError('expected a model folder or the folder of a run, got empty text');
  const backend = join(path, 'backend');
  const saved = savedModel(path) ?? savedModel(backend);
  if (saved !== undefined) return saved;
  for (const folder of [path, backend]) {
    if (!(await exists(join(folder, 'adapter_config.json')))) continue;
    throw new FormatError(
      `${path} holds an adapter without its model; merge them first: rlp export MODEL --adapter ${folder} --to merged --out DIR`,
    );
  }
  const isThere = await exists(path);
  if (!isThere && parseHubName(path) !== undefined) return modelFolder(path);
  const missing = await missingModel(path);
  if (missing !== undefined) throw new FormatError(missing);
  const problem = isThere ? 'holds no model' : 'does not exist';
  throw new FormatError(
    `${path} ${problem}; give a model folder with config.json, a run folder with checkpoints/best or checkpoints/last, or a name on the hub such as Qwen/Qwen3-0.6B`,
  );
}

/** A model and where it was loaded from. */
export type LoadedPolicy = Pick<OpenPolicy, 'folder' | 'model'>;

/** Loads the model of a folder or of a run. */
export async function loadPolicy(path: string): Promise<LoadedPolicy> {
  const folder = await policyFolder(path);
  return { folder, model: await loadModel(folder) };
}

/**
 * Starts an engine for a model.
 *
 * @param options.threads - Threads of one operator. Default: as the engine's options say.
 * @param options.sequences - Responses at the same time. Default 32. One alone is faster with 1.
 */
export async function startPolicy(
  { folder, model }: LoadedPolicy,
  options: {
    readonly engine?: EngineOptions | undefined;
    readonly threads?: number | undefined;
    readonly sequences?: number | undefined;
    /** What was computed or said before: `'used'` for conversations, `'unused'` if results have to repeat. Default `'unused'`. */
    readonly earlier?: 'used' | 'unused';
  },
): Promise<OpenPolicy> {
  const { threads, sequences = 32, earlier = 'unused' } = options;
  const engine = await createEngine({ ...options.engine, ...(threads !== undefined && { threads }) });
  try {
    const reuse = earlier === 'used' ? { prefixCacheBytes: 512 * 2 ** 20, promptLookup: 15 } : {};
    const backend = createOnnxSampler({ engine, model, maxSequences: sequences, ...reuse });
    const inference = await InferenceModule.create({ backend });
    const close = async () => {
      await inference.close();
      await engine.close();
    };
    return { folder, model, inference, [Symbol.asyncDispose]: close };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
