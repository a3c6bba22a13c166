import { FormatError, type HostTensor, type Weights } from '@rlp/core';
import type { ModelConfig } from '../config/model-config.ts';
import { SEPARATE_HEAD } from '../decoder/layout.ts';
import { isTied, moduleOf, moduleParameters } from '../decoder/module-parameters.ts';

const remedy = 'merge the adapter into its model with PEFT (merge_and_unload) and load the merged model';

/** Names that an adapter's file gives to parameters of modules, with the model's names. A tied matrix has two. */
export function moduleTensorNames(config: ModelConfig, modules: Weights): ReadonlyMap<string, string> {
  return new Map(
    [...modules.keys()].flatMap((name) => {
      const names = isTied(config, name) ? [name, SEPARATE_HEAD] : [name];
      return names.map((own) => [`base_model.model.${own}`, name] as const);
    }),
  );
}

/** Fields of `adapter_config.json`, from which PEFT finds the modules. */
export function moduleSettings(config: ModelConfig, modulesToSave: readonly string[], modules: Weights) {
  if (modules.size === 0) return {};
  const tied = [...modules.keys()].find((name) => isTied(config, name));
  if (tied === undefined) return { modules_to_save: modulesToSave };
  const head = moduleOf(SEPARATE_HEAD);
  const others = modulesToSave.filter((name) => !head.endsWith(name) && !moduleOf(tied).endsWith(name));
  return { modules_to_save: [moduleOf(tied), ...others], ensure_weight_tying: true };
}

/**
 * Reads the parameters of modules that were trained in full.
 *
 * @param path - File of the tensors, for messages.
 * @throws FormatError if one is missing, has another shape, or was trained apart from the matrix that it is tied to.
 */
export function readModules(
  config: ModelConfig,
  modulesToSave: readonly string[],
  tensors: Weights,
  path: string,
): Weights {
  const modules = new Map<string, HostTensor>();
  for (const { name, shape } of moduleParameters(config, modulesToSave)) {
    const names = [
      ...moduleTensorNames(config, new Map([[name, { shape, data: new Float32Array() }]])).keys(),
    ];
    const found = names.map((own) => tensors.get(own));
    const [first, second] = found;
    const missing = found.findIndex((tensor) => tensor?.shape.join() !== shape.join());
    if (missing >= 0 || first === undefined) {
      const shown = found[missing] === undefined ? 'none' : `[${found[missing].shape.join(', ')}]`;
      throw new FormatError(
        `${path}: expected ${names[missing]} [${shape.join(', ')}], because modules_to_save names it, got ${shown}; ` +
          (names.length > 1
            ? `without ensure_weight_tying PEFT trains it apart; ${remedy}`
            : 'is it of another model?'),
      );
    }
    if (second !== undefined && !sameNumbers(first, second)) {
      throw new FormatError(`${path}: ${names.join(' and ')} differ, but this model shares them; ${remedy}`);
    }
    modules.set(name, first);
  }
  return modules;
}

function sameNumbers({ data: a }: HostTensor, { data: b }: HostTensor): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
