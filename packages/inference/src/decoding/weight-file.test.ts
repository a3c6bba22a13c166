import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { nodeHost } from '@rlp/data/store';
import { createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOnnxSampler } from '../onnx-sampler.ts';
import { tinyConfigs, tinyTokenizer } from '../testing/tiny-models.ts';
import { WeightFile } from './weight-file.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rlp-weight-file-test-'));
  vi.stubEnv('TMPDIR', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describe('a file of weights', () => {
  it('takes large tensors at places of their own, until it is removed', () => {
    const file = new WeightFile();
    const small = new Uint8Array(1000);
    expect(file.place(small)).toBe(small);
    expect(file.folder).toBeUndefined();
    const floats = Float32Array.from({ length: 70_001 }, (_, at) => at);
    const bytes = Uint8Array.from({ length: 2 ** 18 + 1 }, (_, at) => at);
    const places = [floats, bytes.subarray(1)].map((tensor) => file.place(tensor));
    expect(places).toEqual([
      { file: 'weights', offset: 0, length: 280_004 },
      { file: 'weights', offset: 282_624, length: 2 ** 18 },
    ]);
    const written = readFileSync(join(file.folder!, 'weights'));
    expect(written.subarray(0, 280_004).equals(Buffer.from(floats.buffer))).toBe(true);
    expect(written.subarray(282_624).equals(bytes.subarray(1))).toBe(true);
    file.remove();
    file.remove();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('removes what processes left that were killed, and nothing of others', () => {
    const { self } = nodeHost();
    const ofProcess = (machine: string, pid: number, started: number, old: boolean) => {
      const path = mkdtempSync(join(folder, `rlp-weights-${machine}-${pid}-${started}-`));
      writeFileSync(join(path, 'weights'), 'bytes');
      if (old) utimesSync(path, 0, 0);
      return basename(path);
    };
    const own = ofProcess(self.machine, self.pid, self.started, true);
    const elsewhere = ofProcess('0123abcd', 1, 2, false);
    ofProcess(self.machine, 2 ** 22 + 1, 5, false);
    ofProcess('0123abcd', 1, 2, true);
    writeFileSync(join(folder, 'rlp-weights-notes.txt'), 'mine');
    const file = new WeightFile();
    file.place(new Uint8Array(2 ** 18));
    file.remove();
    expect(readdirSync(folder).sort()).toEqual([own, elsewhere, 'rlp-weights-notes.txt'].sort());
  });

  it('takes none where it cannot be written', () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'));
    const bytes = new Uint8Array(2 ** 18);
    expect(new WeightFile().place(bytes)).toBe(bytes);
  });
});

describe.each(['int8', 'packed'] as const)("weights: '%s'", (weights) => {
  const config = parseModelConfig(
    { ...tinyConfigs.llama, hidden_size: 256, intermediate_size: 1024 },
    'wide',
  );
  const model = createModel({ config, tokenizer: tinyTokenizer, seed: 'wide' });

  async function sampled(profiling: 'off' | 'on') {
    const engine = await createEngine({ thread: 'inline', threads: 1, profiling });
    const sampler = await createOnnxSampler({ engine, model, weights });
    const left = readdirSync(folder).filter((name) => name.startsWith('rlp-weights-'));
    const answers = await sampler.sample({ prompt: [1, 2], count: 2, maxTokens: 8, seed: 'file' });
    if (profiling === 'on') expect((await engine.profile()).length).toBeGreaterThan(3);
    await sampler.close();
    await engine.close();
    return { left, drawn: answers.map(({ tokens, behaviorLogprobs }) => [...tokens, ...behaviorLogprobs]) };
  }

  it('are those of the graph, and leave no file', async () => {
    const { left, drawn } = await sampled('off');
    expect(left).toEqual([]);
    vi.stubEnv('TMPDIR', join(folder, 'missing'));
    expect((await sampled('off')).drawn).toEqual(drawn);
  });

  it('stay in their file for as long as a profile may be asked for', async () => {
    const { left } = await sampled('on');
    expect(left.length).toBeGreaterThan(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});
