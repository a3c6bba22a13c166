import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll } from 'vitest';
import type { OnnxBackendOptions } from '../backend-options.ts';
import { createOnnxBackend } from '../create-backend.ts';
import type { OnnxTrainingBackend } from '../onnx-backend.ts';
import { tinyModel } from './tiny-model.ts';

/** Backends of one test file. */
export interface InlineBackends {
  /** The shared engine. It exists when the file's tests run. */
  readonly engine: Engine;
  /** Creates a backend with a tiny model in a separate store. Gradient clipping is off. */
  create(
    options?: Partial<OnnxBackendOptions>,
  ): Promise<{ readonly backend: OnnxTrainingBackend; readonly store: string }>;
}

/** One engine on this thread for the tests of a file. */
export function inlineBackends(): InlineBackends {
  let engine: Engine;
  let created = 0;
  beforeAll(async () => {
    engine = await createEngine({ thread: 'inline', threads: 1 });
  });
  afterAll(() => engine.close());
  return {
    get engine() {
      return engine;
    },
    async create(options = {}) {
      const store = options.store ?? `policy-${created++}`;
      const model = options.model ?? tinyModel();
      const defaults = { engine, model, store, learningRate: 0.01, maxGradientNorm: 'off' } as const;
      return { backend: await createOnnxBackend({ ...defaults, ...options }), store };
    },
  };
}

/** Path for a checkpoint, in a new directory. */
export async function temporaryCheckpoint(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'rlp-backend-')), 'checkpoint');
}
