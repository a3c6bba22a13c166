import { ArgumentError, type Weights } from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import { adapterConfigFile } from '@rlp/models';
import { readSafetensors, writeSafetensors } from '@rlp/models/safetensors';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import { fs, join } from '../node-files.ts';
import type { OptimizerKind } from '../optimizer/options.ts';
import type { NamedTensor, ProgramState } from '../program-protocol.ts';
import { type CheckpointState, openCheckpoint, readState, stateFile, writeState } from './checkpoint.ts';
import { checkWeights, type PolicyWeights, toTensors, toWeights, zeros } from './policy-weights.ts';
import { splitHead, valueHeadFile } from './value-head.ts';

/** Files of the trained parameters in a checkpoint. */
type CheckpointWeights = Pick<PolicyWeights, 'adaptation' | 'valueHead' | 'check' | 'write' | 'readFiles'>;

/** What a checkpoint is of. */
export interface CheckpointParts {
  readonly weights: CheckpointWeights;
  readonly optimizer: CheckpointOptimizer;
}

/** Optimizer whose state is in a checkpoint. */
export interface CheckpointOptimizer {
  readonly kind: OptimizerKind;
  /** Tensors of its state. */
  readonly state: readonly ParameterSpec[];
}

/** Descriptions of the two ways to train, for error messages. */
const adaptations = { full: 'trains every weight', lora: 'trains a low-rank correction' } as const;

const optimizerFile = 'optimizer.safetensors';
const referenceFile = 'reference.safetensors';

/**
 * Writes a checkpoint directory that is always complete or absent.
 *
 * It holds:
 *
 * - the files of the weights: `model.safetensors` and `config.json`, or a PEFT adapter
 * - `optimizer.safetensors` with the optimizer's state, such as `moment1.<name>`, unless it has none
 * - `reference.safetensors` if there is a reference policy
 * - `value_head.safetensors` if there is a value head
 * - `state.json`
 * - `SHA256SUMS`
 *
 * @throws ArgumentError if something other than an earlier save is at the path.
 */
export async function writeTrainingCheckpoint(
  directory: string,
  state: ProgramState,
  { weights, optimizer }: CheckpointParts,
): Promise<void> {
  await writeDirectory(directory, async (temporary) => {
    const { policy, head } = splitHead(state.parameters);
    await weights.write(temporary, toWeights(policy));
    if (head.length > 0) await writeSafetensors(join(temporary, valueHeadFile), toWeights(head));
    if (state.optimizer.length > 0) {
      await writeSafetensors(join(temporary, optimizerFile), toWeights(state.optimizer));
    }
    if (state.reference) await writeSafetensors(join(temporary, referenceFile), toWeights(state.reference));
    await writeState(temporary, {
      format: 1,
      weightVersion: state.weightVersion,
      updates: state.updates,
      adaptation: weights.adaptation,
      reference: state.reference ? 'present' : 'absent',
      valueHead: head.length > 0 ? 'present' : 'absent',
      optimizer: optimizer.kind,
      lossScale: state.lossScale,
    });
  });
}

/**
 * Reads a checkpoint of {@link writeTrainingCheckpoint}, or an adapter that PEFT wrote. Training starts anew from the latter.
 *
 * @param optimizer - `'fresh'` leaves out the optimizer's state and the number of updates.
 * @throws FormatError for a malformed or damaged file.
 * @throws ArgumentError for a checkpoint of another model or optimizer.
 */
export async function readTrainingCheckpoint(
  directory: string,
  parts: CheckpointParts,
  optimizer: 'restored' | 'fresh' = 'restored',
): Promise<ProgramState> {
  const { weights } = parts;
  await openCheckpoint(directory);
  const state = (await isForeignAdapter(directory)) ? foreignAdapter : await readState(directory);
  if (state.adaptation !== weights.adaptation) {
    throw new ArgumentError(
      `loadCheckpoint: ${directory} ${adaptations[state.adaptation]}, and this backend ${adaptations[weights.adaptation]}; ` +
        `create it ${state.adaptation === 'lora' ? 'with' : 'without'} \`lora\``,
    );
  }
  const isFresh = state === foreignAdapter;
  if (!isFresh) checkSavedHead(directory, state.valueHead, weights.valueHead);
  const policy = await weights.readFiles(directory);
  if (isFresh) return freshState(policy, parts);
  const head = weights.valueHead ? await readHead(join(directory, valueHeadFile), weights.valueHead) : [];
  const reference =
    state.reference === 'present' ? await readSafetensors(join(directory, referenceFile)) : undefined;
  if (reference) weights.check(`loadCheckpoint ${join(directory, referenceFile)}`, reference);
  return {
    updates: optimizer === 'fresh' ? 0 : state.updates,
    weightVersion: state.weightVersion,
    parameters: [...toTensors(policy), ...head],
    optimizer:
      optimizer === 'fresh' ? zeros(parts.optimizer.state) : await readOptimizer(directory, state, parts),
    reference: reference && toTensors(reference),
    ...(optimizer === 'restored' && { lossScale: state.lossScale }),
  };
}

async function readOptimizer(
  directory: string,
  saved: CheckpointState,
  { optimizer: { kind, state } }: CheckpointParts,
): Promise<NamedTensor[]> {
  if (saved.optimizer !== kind) {
    throw new ArgumentError(
      `loadCheckpoint: ${directory} was trained by the optimizer '${saved.optimizer}', and this backend's is '${kind}'; ` +
        `create it with optimizer: { kind: '${saved.optimizer}' }, or load with { optimizer: 'fresh' }`,
    );
  }
  if (state.length === 0) return [];
  const path = join(directory, optimizerFile);
  const tensors = await readSafetensors(path);
  checkWeights(`loadCheckpoint ${path}`, state, tensors);
  return toTensors(tensors);
}

/** What the files of another library leave open: a low-rank correction that nothing was trained of yet. */
const foreignAdapter: CheckpointState = {
  format: 1,
  weightVersion: 0,
  updates: 0,
  adaptation: 'lora',
  reference: 'absent',
  valueHead: 'absent',
  optimizer: 'adamw',
};

/** Whether another library wrote the folder: it holds an adapter, but not our state. */
async function isForeignAdapter(directory: string): Promise<boolean> {
  const names = await fs()
    .readdir(directory)
    .catch((): string[] => []);
  return names.includes(adapterConfigFile) && !names.includes(stateFile);
}

/** Training that starts at these parameters, with a critic of zero. */
function freshState(policy: Weights, { weights, optimizer }: CheckpointParts): ProgramState {
  const head = weights.valueHead ? zeros([weights.valueHead]) : [];
  return {
    updates: 0,
    weightVersion: 0,
    parameters: [...toTensors(policy), ...head],
    optimizer: zeros(optimizer.state),
    reference: undefined,
  };
}

function checkSavedHead(
  directory: string,
  saved: 'present' | 'absent',
  own: ParameterSpec | undefined,
): void {
  if ((saved === 'present') === (own !== undefined)) return;
  const problem = own
    ? 'holds no value head, this backend has one'
    : 'holds a value head, this backend has none';
  const remedy = own ? 'none' : 'linear';
  throw new ArgumentError(
    `loadCheckpoint: ${directory} ${problem}; load it into one that createOnnxBackend made with valueHead: '${remedy}'`,
  );
}

async function readHead(path: string, spec: ParameterSpec): Promise<NamedTensor[]> {
  const head = await readSafetensors(path);
  checkWeights(`loadCheckpoint ${path}`, [spec], head);
  return toTensors(head);
}
