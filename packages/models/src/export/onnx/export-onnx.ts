import {
  abortSignal,
  type HostTensor,
  numbersOf,
  parseOptions,
  requireArguments,
  requireFields,
} from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import { type ExternalData, elementCount, serialize } from '@rlp/onnx';
import * as z from 'zod';
import { parameterSpecs } from '../../decoder/parameters.ts';
import { writeDescriptionFiles } from '../../model/save-model.ts';
import { checkWeightShapes } from '../../model/weight-shapes.ts';
import { fs, nodePath } from '../../node-files.ts';
import type { ExportedModel } from '../gguf/export-gguf.ts';
import { onnxDecoder } from './onnx-decoder.ts';

const schema = z.strictObject({
  /** Bytes of weights from which on they are in a separate file, `onnx/model.onnx_data`. Default 1,000,000,000. */
  externalFrom: z.int().min(0).max(2_000_000_000).default(1_000_000_000),
  /** Signal that stops between two tensors and leaves no folder. Default none. */
  signal: abortSignal.optional(),
});

/** Options of {@link exportOnnx}. */
export interface ExportOnnxOptions extends z.input<typeof schema> {}

const modelFile = 'model.onnx';
const dataFile = 'model.onnx_data';

/**
 * Writes a model as a folder for transformers.js: `onnx/model.onnx` with a cache, `config.json` and the tokenizer.
 *
 *     const generator = await pipeline('text-generation', folder, { dtype: 'fp32' });
 *
 * Weights are float32. The graph has operators of the ONNX standard only, so other runtimes run it too. The folder appears when
 * it is complete.
 *
 * @throws ArgumentError if the weights are not those of the config, OptionsError for bad options.
 */
export async function exportOnnx(
  folder: string,
  model: ExportedModel,
  options: ExportOnnxOptions = {},
): Promise<void> {
  requireArguments('exportOnnx', { folder: 'text' }, folder);
  requireFields('exportOnnx', { tokenizer: 'object', config: 'object', weights: 'object' }, model);
  const { externalFrom, signal } = parseOptions('exportOnnx', schema, options);
  const { config, weights } = model;
  const specs = parameterSpecs(config);
  checkWeightShapes('exportOnnx', specs, weights);
  const tensors = specs.map(({ name }) => [name, weights.get(name)!] as const);
  const bytes = tensors.reduce((sum, [, tensor]) => sum + byteLengthOf(tensor), 0);
  const places = bytes >= externalFrom ? placesOf(tensors) : undefined;
  await writeDirectory(folder, async (temporary) => {
    const inside = nodePath().join(temporary, 'onnx');
    await fs().mkdir(inside);
    const graph = onnxDecoder(config, (name) => {
      const tensor = weights.get(name)!;
      return { shape: tensor.shape, data: places?.get(name) ?? numbersOf(tensor) };
    });
    await fs().writeFile(nodePath().join(inside, modelFile), serialize(graph, { unusedInputs: 'keep' }));
    if (places) await writeData(nodePath().join(inside, dataFile), tensors, signal);
    signal?.throwIfAborted();
    const settings = { dtype: 'fp32', use_external_data_format: places ? { [modelFile]: 1 } : false };
    await writeDescriptionFiles(temporary, model, 'F32', { 'transformers.js_config': settings });
  });
}

function byteLengthOf({ shape }: HostTensor): number {
  return Float32Array.BYTES_PER_ELEMENT * elementCount(shape);
}

type Tensors = readonly (readonly [name: string, tensor: HostTensor])[];

/** Where the weights are in their file. */
function placesOf(tensors: Tensors): ReadonlyMap<string, ExternalData> {
  let offset = 0;
  return new Map(
    tensors.map(([name, tensor]) => {
      const place = { file: dataFile, offset, length: byteLengthOf(tensor) };
      offset += place.length;
      return [name, place] as const;
    }),
  );
}

async function writeData(path: string, tensors: Tensors, signal: AbortSignal | undefined): Promise<void> {
  const file = await fs().open(path, 'wx');
  try {
    for (const [, tensor] of tensors) {
      signal?.throwIfAborted();
      const data = numbersOf(tensor);
      await file.writeFile(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
