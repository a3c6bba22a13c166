import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, type Weights } from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import { adapterConfigFile } from '@rlp/models';
import { readSafetensors, writeSafetensors } from '@rlp/models/safetensors';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { NamedTensor, ProgramState } from '../program-protocol.ts';
import { type CheckpointState, openCheckpoint, readState, stateFile, writeState } from './checkpoint.ts';
import { checkWeights, type PolicyWeights, toTensors, toWeights } from './policy-weights.ts';
import { splitHead, valueHeadFile } from './value-head.ts';

/** Files of the trained parameters in a checkpoint. */
export type CheckpointWeights = Pick<
  PolicyWeights,
  'adaptation' | 'valueHead' | 'check' | 'write' | 'readFiles'
>;

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
 * - `optimizer.safetensors` with `moment1.<name>` and `moment2.<name>`
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
  weights: CheckpointWeights,
): Promise<void> {
  await writeDirectory(directory, async (temporary) => {
    const { policy, head } = splitHead(state.parameters);
    await weights.write(temporary, toWeights(policy));
    if (head.length > 0) await writeSafetensors(join(temporary, valueHeadFile), toWeights(head));
    const moments = [...prefixed('moment1.', state.moment1), ...prefixed('moment2.', state.moment2)];
    await writeSafetensors(join(temporary, optimizerFile), toWeights(moments));
    if (state.reference) await writeSafetensors(join(temporary, referenceFile), toWeights(state.reference));
    await writeState(temporary, {
      format: 1,
      weightVersion: state.weightVersion,
      updates: state.updates,
      adaptation: weights.adaptation,
      reference: state.reference ? 'present' : 'absent',
      valueHead: head.length > 0 ? 'present' : 'absent',
    });
  });
}

/**
 * Reads a checkpoint of {@link writeTrainingCheckpoint}, or an adapter that PEFT wrote. Training starts anew from the latter.
 *
 * @throws FormatError for a malformed or damaged file.
 * @throws ArgumentError for a checkpoint of another model.
 */
export async function readTrainingCheckpoint(
  directory: string,
  weights: CheckpointWeights,
): Promise<ProgramState> {
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
  if (isFresh) return freshState(policy, weights.valueHead);
  const head = weights.valueHead ? await readHead(join(directory, valueHeadFile), weights.valueHead) : [];
  const moments = await readSafetensors(join(directory, optimizerFile));
  const moment = (slot: string) => {
    const tensors = withoutPrefix(`${slot}.`, moments);
    const owner = `loadCheckpoint ${join(directory, optimizerFile)} (${slot})`;
    const { policy, head } = splitHead(toTensors(tensors));
    weights.check(owner, toWeights(policy));
    checkWeights(owner, weights.valueHead ? [weights.valueHead] : [], toWeights(head));
    return [...policy, ...head];
  };
  const reference =
    state.reference === 'present' ? await readSafetensors(join(directory, referenceFile)) : undefined;
  if (reference) weights.check(`loadCheckpoint ${join(directory, referenceFile)}`, reference);
  return {
    updates: state.updates,
    weightVersion: state.weightVersion,
    parameters: [...toTensors(policy), ...head],
    moment1: moment('moment1'),
    moment2: moment('moment2'),
    reference: reference && toTensors(reference),
  };
}

/** What the files of another library leave open: a low-rank correction that nothing was trained of yet. */
const foreignAdapter: CheckpointState = {
  format: 1,
  weightVersion: 0,
  updates: 0,
  adaptation: 'lora',
  reference: 'absent',
  valueHead: 'absent',
};

/** Whether another library wrote the folder: it holds an adapter, but not our state. */
async function isForeignAdapter(directory: string): Promise<boolean> {
  const names = await readdir(directory).catch((): string[] => []);
  return names.includes(adapterConfigFile) && !names.includes(stateFile);
}

/** Training that starts at these parameters, with a critic of zero. */
function freshState(policy: Weights, valueHead: ParameterSpec | undefined): ProgramState {
  const head = valueHead ? zeros([valueHead]) : [];
  const parameters = [...toTensors(policy), ...head];
  const moments = () => zeros(parameters);
  return {
    updates: 0,
    weightVersion: 0,
    parameters,
    moment1: moments(),
    moment2: moments(),
    reference: undefined,
  };
}

function zeros(specs: readonly ParameterSpec[]): NamedTensor[] {
  return specs.map(({ name, shape }) => {
    return { name, shape, data: new Float32Array(shape.reduce((size, length) => size * length, 1)) };
  });
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

function prefixed(prefix: string, tensors: readonly NamedTensor[]): NamedTensor[] {
  return tensors.map((tensor) => ({ ...tensor, name: `${prefix}${tensor.name}` }));
}

function withoutPrefix(prefix: string, tensors: Weights): Weights {
  return new Map(
    [...tensors].flatMap(([name, tensor]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), tensor] as const] : [],
    ),
  );
}
