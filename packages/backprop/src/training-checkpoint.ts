import { join } from 'node:path';
import { ArgumentError, type Weights } from '@rlp/core';
import { readSafetensors, writeSafetensors } from '@rlp/models';
import { readState, writeDirectory, writeState } from './checkpoint.ts';
import { type PolicyWeights, toTensors, toWeights } from './policy-weights.ts';
import type { NamedTensor, ProgramState } from './program-protocol.ts';

/** How a checkpoint holds the trained parameters themselves. */
export type CheckpointWeights = Pick<PolicyWeights, 'adaptation' | 'check' | 'write' | 'readFiles'>;

const optimizerFile = 'optimizer.safetensors';
const referenceFile = 'reference.safetensors';

/**
 * Writes a checkpoint directory: the weights' own files (`model.safetensors` and `config.json`, or a PEFT adapter),
 * `optimizer.safetensors` (`moment1.<name>`, `moment2.<name>`), `reference.safetensors` where there is a reference policy,
 * and `state.json`. Complete or absent.
 */
export async function writeTrainingCheckpoint(
  directory: string,
  state: ProgramState,
  weights: CheckpointWeights,
): Promise<void> {
  await writeDirectory(directory, async (temporary) => {
    await weights.write(temporary, toWeights(state.parameters));
    const moments = [...prefixed('moment1.', state.moment1), ...prefixed('moment2.', state.moment2)];
    await writeSafetensors(join(temporary, optimizerFile), toWeights(moments));
    if (state.reference) await writeSafetensors(join(temporary, referenceFile), toWeights(state.reference));
    await writeState(temporary, {
      format: 1,
      weightVersion: state.weightVersion,
      updates: state.updates,
      adaptation: weights.adaptation,
      reference: state.reference ? 'present' : 'absent',
    });
  });
}

/**
 * Reads what {@link writeTrainingCheckpoint} wrote.
 *
 * @throws FormatError for a malformed file, ArgumentError for a checkpoint of another model.
 */
export async function readTrainingCheckpoint(
  directory: string,
  weights: CheckpointWeights,
): Promise<ProgramState> {
  const state = await readState(directory);
  if (state.adaptation !== weights.adaptation) {
    throw new ArgumentError(
      `loadCheckpoint: ${directory} was trained with adaptation "${state.adaptation}", this backend has ` +
        `"${weights.adaptation}"; create it with the same adaptation`,
    );
  }
  const parameters = await weights.readFiles(directory);
  const moments = await readSafetensors(join(directory, optimizerFile));
  const moment = (slot: string) => {
    const tensors = withoutPrefix(`${slot}.`, moments);
    weights.check(`loadCheckpoint ${join(directory, optimizerFile)} (${slot})`, tensors);
    return toTensors(tensors);
  };
  const reference =
    state.reference === 'present' ? await readSafetensors(join(directory, referenceFile)) : undefined;
  if (reference) weights.check(`loadCheckpoint ${join(directory, referenceFile)}`, reference);
  return {
    updates: state.updates,
    weightVersion: state.weightVersion,
    parameters: toTensors(parameters),
    moment1: moment('moment1'),
    moment2: moment('moment2'),
    reference: reference && toTensors(reference),
  };
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
