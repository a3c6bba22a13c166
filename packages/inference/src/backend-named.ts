import { ArgumentError } from '@rlp/core';
import { loadModel, loadModelConfig, loadTokenizer } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import type { InferenceBackend } from './backend.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import { createSglangSampler } from './sglang/create.ts';
import { createVllmSampler } from './vllm/create.ts';

/** Name of a backend. `'onnx'` computes in this process, the others ask a server. */
export type BackendName = 'onnx' | 'vllm' | 'sglang' | 'openai';

interface NamedBackend {
  readonly model?: string | undefined;
  readonly url?: string | undefined;
}

/** Whether a value can be a backend, or the promise of one. */
export function isBackend(value: unknown): value is InferenceBackend | Promise<InferenceBackend> {
  if (typeof value === 'string') return false;
  if (typeof value === 'object' && value !== null && ('sample' in value || 'then' in value)) return true;
  throw new ArgumentError(
    `InferenceModule.create: expected a backend or the name of one, got ${value === null ? 'null' : typeof value}`,
  );
}

/**
 * Starts the backend with this name.
 *
 * @throws ArgumentError for an unknown name, or for options that it does not read or lacks.
 */
export async function backendNamed(name: BackendName, options: NamedBackend): Promise<InferenceBackend> {
  switch (name) {
    case 'onnx':
      return onnx(required(name, 'model', options), options);
    case 'vllm':
    case 'sglang':
      return remote(name, required(name, 'model', options), required(name, 'url', options));
    case 'openai':
      throw new ArgumentError(
        "InferenceModule.create: 'openai' is a chat endpoint, which does not give tokens; use chatAgentPolicy of @rlp/inference/openai to evaluate, and 'vllm' or 'sglang' to train",
      );
    default:
      throw new ArgumentError(
        `InferenceModule.create: expected the backend 'onnx', 'vllm' or 'sglang', got '${String(name)}'`,
      );
  }
}

function required(name: BackendName, option: 'model' | 'url', options: NamedBackend): string {
  const value = options[option];
  if (typeof value === 'string' && value !== '') return value;
  const what = option === 'model' ? 'the folder of the model' : 'the address of the server';
  throw new ArgumentError(`InferenceModule.create: the backend '${name}' needs \`${option}\`, ${what}`);
}

async function remote(name: 'vllm' | 'sglang', folder: string, url: string): Promise<InferenceBackend> {
  const [{ tokenizer, chat: renderer }, { vocabularySize }] = await Promise.all([
    loadTokenizer(folder),
    loadModelConfig(folder),
  ]);
  const options = { url, tokenizer, renderer, vocabularySize };
  return name === 'vllm' ? createVllmSampler(options) : createSglangSampler(options);
}

/** A separate engine, which ends with the backend. */
async function onnx(folder: string, { url }: NamedBackend): Promise<InferenceBackend> {
  if (url !== undefined) {
    throw new ArgumentError("InferenceModule.create: the backend 'onnx' has no `url`; leave it out");
  }
  const model = await loadModel(folder);
  const engine = await createEngine();
  try {
    const backend = await createOnnxSampler({ engine, model });
    const close = backend.close.bind(backend);
    backend.close = async () => {
      await close();
      await engine.close();
    };
    return backend;
  } catch (error) {
    await engine.close();
    throw error;
  }
}
