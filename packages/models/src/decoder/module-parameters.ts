import { ArgumentError, requireArguments } from '@rlp/core';
import type { ModelConfig } from '../config/model-config.ts';
import { SEPARATE_HEAD } from './layout.ts';
import { type DecoderParameter, headParameter, parameterSpecs } from './parameters.ts';

/**
 * Parameters of modules that are trained in full beside a low-rank correction, in the order of the forward pass.
 *
 * A name stands for every module whose path ends with it, as in PEFT's `modules_to_save`. So `norm` also stands for
 * `input_layernorm`, and `model.norm` for the last norm only. If the model's output head is tied to its embedding, either name
 * stands for the matrix that both share.
 *
 * @throws ArgumentError if a name stands for no module. The message lists the known names.
 */
export function moduleParameters(
  config: ModelConfig,
  modulesToSave: readonly string[],
): readonly DecoderParameter[] {
  requireArguments('moduleParameters', { config: 'object', modulesToSave: 'texts' }, config, modulesToSave);
  const paths = parameterSpecs(config).map((parameter) => ({ parameter, paths: pathsOf(config, parameter) }));
  const unknown = modulesToSave.filter(
    (name) => !paths.some((own) => own.paths.some((path) => path.endsWith(name))),
  );
  if (unknown.length > 0) {
    const known = new Set(paths.flatMap((own) => own.paths.map((path) => path.split('.').at(-1)!)));
    throw new ArgumentError(
      `modules to save: no module's path ends with ${unknown.map((name) => `"${name}"`).join(', ')}; ` +
        `this model has ${[...known].join(', ')}`,
    );
  }
  return paths
    .filter((own) => own.paths.some((path) => modulesToSave.some((name) => path.endsWith(name))))
    .map(({ parameter }) => parameter);
}

/** Path of the module that has a parameter. */
export function moduleOf(parameter: string): string {
  return parameter.replace(/\.(weight|bias)$/, '');
}

/** Paths of the modules that have a parameter. */
function pathsOf(config: ModelConfig, { name }: DecoderParameter): string[] {
  return [moduleOf(name), ...(isTied(config, name) ? [moduleOf(SEPARATE_HEAD)] : [])];
}

/** Whether a parameter is both embedding and output head. */
export function isTied(config: ModelConfig, name: string): boolean {
  return config.outputHead === 'tied' && name === headParameter(config);
}
