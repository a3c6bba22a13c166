import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, afterEach, beforeAll } from 'vitest';

import type { InferenceBackend } from './backend.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import type { OnnxSamplerOptions } from './onnx-sampler-options.ts';
import { tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

export const prompt = tinyTokenizer.encode('once');
export const request = { prompt, count: 1, maxTokens: 12, seed: 'test' };
export const scoreRequests = [
  { prompt, completion: tinyTokenizer.encode('upon', { specialTokens: 'none' }) },
  { prompt: prompt.slice(0, 2), completion: tinyTokenizer.encode('a time.', { specialTokens: 'none' }) },
] as const;

/** An engine and a folder for the tests of a file, and samplers that are closed after each test. */
export class Samplers {
  engine!: Engine;
  folder!: string;
  readonly #open: InferenceBackend[] = [];

  constructor() {
    beforeAll(async () => {
      this.engine = await createEngine({ thread: 'inline', threads: 1 });
      this.folder = await mkdtemp(join(tmpdir(), 'rlp-inference-'));
    });
    afterEach(async () => {
      await Promise.all(this.#open.splice(0).map((backend) => backend.close()));
    });
    afterAll(async () => {
      await this.engine.close();
      await rm(this.folder, { recursive: true });
    });
  }

  async start(options: Partial<OnnxSamplerOptions> = {}): Promise<InferenceBackend> {
    const backend = await createOnnxSampler({ engine: this.engine, model: tinyModel(), ...options });
    this.#open.push(backend);
    return backend;
  }
}
