import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { rewardModel } from '@rlp/algorithms/preference';
import { createOnnxBackend, readValueHead } from '@rlp/backprop';
import { type CheckpointBackend, FormatError, type RewardFunction } from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import {
  type LanguageModel,
  loadModel,
  loadTokenizer,
  type TextTokenizer,
  writeModelFiles,
} from '@rlp/models';
import { writeSafetensors } from '@rlp/models/safetensors';
import { createEngine } from '@rlp/onnx/runtime';
import { savedModel } from '../folder/run-files.ts';
import { requireVocabulary } from './require-vocabulary.ts';

/** File of the value head beside a model, where `readValueHead` looks for it. */
const headFile = 'value_head.safetensors';

/** Saves a model with the value head of a backend. The folder appears when it is complete. */
export async function saveRewardModel(
  folder: string,
  model: LanguageModel,
  backend: CheckpointBackend,
): Promise<void> {
  await writeDirectory(folder, async (partial) => {
    const checkpoint = join(partial, 'checkpoint');
    await backend.saveCheckpoint(checkpoint);
    const head = await readValueHead(checkpoint);
    await rm(checkpoint, { recursive: true });
    await writeModelFiles(partial, model);
    await writeSafetensors(join(partial, headFile), new Map([['score.weight', head]]));
  });
}

/** A reward that holds an engine once it was used. */
export type SavedRewardModel = RewardFunction & {
  /** @throws FormatError if there is no reward model, ArgumentError if its tokens are not the policy's. Loads no weights. */
  requireModel(policy: TextTokenizer): Promise<void>;
  close(): Promise<void>;
};

/**
 * A saved reward model as a reward. It is loaded when the first response is scored, into a separate engine.
 *
 * @param source - Folder of the model, or of the run that trained it.
 */
export function savedRewardModel(source: string): SavedRewardModel {
  let loaded: Promise<OpenRewardModel> | undefined;
  const reward: RewardFunction = async (trajectory, context) => {
    loaded ??= load(source);
    return (await loaded)(trajectory, context);
  };
  return Object.assign(reward, {
    async requireModel(policy: TextTokenizer) {
      const { tokenizer } = await loadTokenizer(folderOf(source));
      requireVocabulary('rewardModel', { name: source, tokenizer }, policy);
    },
    close: async () => (await loaded)?.close(),
  });
}

type OpenRewardModel = RewardFunction & Pick<SavedRewardModel, 'close'>;

async function load(source: string): Promise<OpenRewardModel> {
  const folder = folderOf(source);
  const [model, valueHead] = await Promise.all([loadModel(folder), readValueHead(folder)]);
  const engine = await createEngine();
  const close = () => engine.close();
  try {
    const backend = await createOnnxBackend({ engine, model, valueHead, learningRate: 0, reference: 'none' });
    return Object.assign(rewardModel(backend), { close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** The folder itself, or the best or last model of a run. */
function folderOf(source: string): string {
  const folder = savedModel(source, headFile);
  if (folder !== undefined) return folder;
  throw new FormatError(
    `rewardModel: ${source} holds no ${headFile}; give the folder of a run of mode 'reward-model', or of its model`,
  );
}
