import { ArgumentError, abortSignal, parseOptions, requireArguments, requireFields } from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import * as z from 'zod';
import { parameterSpecs } from '../../decoder/parameters.ts';
import { hubNameOf } from '../../hub/hub-name.ts';
import type { LanguageModel } from '../../model/language-model.ts';
import { checkWeightShapes } from '../../model/weight-shapes.ts';
import { nodePath } from '../../node-files.ts';
import { ggufArchitecture, ggufMetadata } from './gguf-metadata.ts';
import { ggufTensors } from './gguf-tensors.ts';
import { ggufTokenizer } from './gguf-tokenizer.ts';
import { writeGguf } from './write-gguf.ts';

const schema = z.strictObject({
  /** Type of the matrices. `'Q8_0'` takes about 8.5 bits per weight. Vectors stay float32. Default `'F16'`. */
  dtype: z.enum(['F32', 'F16', 'BF16', 'Q8_0']).default('F16'),
  /** Name of the model in the file. Default: the last part of the folder that it was loaded from, or `'rlp'`. */
  name: z.string().min(1).optional(),
  /** llama.cpp's name of the pre-tokenizer, such as `'llama-bpe'`. Default: by the pattern in `tokenizer.json`. */
  preTokenizer: z.string().min(1).optional(),
  /** Signal that stops between two tensors and leaves no file. Default none. */
  signal: abortSignal.optional(),
});

/** Options of {@link exportGguf}. */
export interface ExportGgufOptions extends z.input<typeof schema> {}

/** Model that is exported: a loaded or a trained one. */
export type ExportedModel = Pick<LanguageModel, 'config' | 'weights' | 'tokenizer' | 'folder'>;

/**
 * Writes a model as a folder with one GGUF file, for llama.cpp and what is built on it.
 *
 * Llama, Mistral, Qwen2 and Qwen3 are exported, with tokenizer and chat template. The folder appears when it is complete.
 *
 * @returns Path of the file.
 * @throws ArgumentError for a model or a tokenizer that llama.cpp would run in another way, OptionsError for bad options.
 */
export async function exportGguf(
  folder: string,
  model: ExportedModel,
  options: ExportGgufOptions = {},
): Promise<string> {
  requireArguments('exportGguf', { folder: 'text' }, folder);
  requireFields('exportGguf', { tokenizer: 'object', config: 'object', weights: 'object' }, model);
  const { dtype, signal, preTokenizer, name } = parseOptions('exportGguf', schema, options);
  const { config, weights, tokenizer } = model;
  const architecture = ggufArchitecture(config);
  checkWeightShapes('exportGguf', parameterSpecs(config), weights);
  const shown = name ?? nameOf(model);
  const metadata = new Map([
    ...ggufMetadata(config, { architecture, type: dtype, name: shown }),
    ...ggufTokenizer(tokenizer, config, { preTokenizer }),
  ]);
  const order = architecture === 'llama' ? 'interleaved' : 'as-is';
  const tensors = ggufTensors(config, weights, dtype, order);
  const file = `${shown.replaceAll(/[^\w.-]+/g, '-')}-${dtype}.gguf`;
  if (file.startsWith('.'))
    throw new ArgumentError(`exportGguf: name begins with a dot: ${shown}; pass another name`);
  await writeDirectory(folder, (temporary) =>
    writeGguf(nodePath().join(temporary, file), { metadata, tensors }, signal),
  );
  return nodePath().join(folder, file);
}

function nameOf({ folder }: ExportedModel): string {
  if (folder === undefined) return 'rlp';
  return (hubNameOf(folder) ?? folder).split(/[/\\]/).findLast(Boolean) ?? 'rlp';
}
