import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadModel } from '@rlp/models';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const stories = fileURLToPath(new URL('../../../examples/models/stories260k', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'cli-export-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function rlp(...args: string[]) {
  const said: string[] = [];
  const complaints: string[] = [];
  const code = await runCli(args, {
    print: (line) => said.push(line),
    printError: (line) => complaints.push(line),
  });
  return { code, said: said.join('\n'), complaints: complaints.join('\n') };
}

describe('rlp export', () => {
  const adapter = fileURLToPath(new URL('../../backprop/fixtures/testdata/peft/plain', import.meta.url));
  const out = (name: string) => join(directory, name);

  it('writes each form, with an adapter merged in or apart', async () => {
    const merged = await rlp('export', stories, '--to', 'merged', '--out', out('merged'), '--dtype', 'bf16');
    expect(merged).toMatchObject({ code: 0, said: expect.stringContaining('safetensors in BF16') });
    expect(existsSync(join(out('merged'), 'model.safetensors'))).toBe(true);
    const gguf = await rlp('export', stories, '--to', 'gguf', '--out', out('gguf'), '--dtype', 'Q8_0');
    expect(gguf.said).toContain('stories260k-Q8_0.gguf: GGUF in Q8_0, for llama.cpp');
    await rlp('export', stories, '--to', 'onnx', '--out', out('onnx'));
    expect(existsSync(join(out('onnx'), 'onnx', 'model.onnx'))).toBe(true);
    const apart = await rlp('export', stories, '--to', 'adapter', '--adapter', adapter, '--out', out('peft'));
    expect([apart.code, apart.complaints]).toEqual([0, '']);
    const saved = readFileSync(join(out('peft'), 'adapter_config.json'), 'utf8');
    expect(JSON.parse(saved)).toMatchObject({ peft_type: 'LORA' });
    await rlp('export', stories, '--to', 'merged', '--adapter', adapter, '--out', out('corrected'));
    const [plain, corrected] = [await loadModel(stories), await loadModel(out('corrected'))];
    const changed = [...plain.weights].filter(
      ([name, { data }]) => !data.every((value, index) => value === corrected.weights.get(name)!.data[index]),
    );
    expect(changed.length).toBeGreaterThan(0);
  });

  it('replaces an export of the same form, and deletes none of another', async () => {
    const exported = (...args: string[]) => rlp('export', stories, '--out', out('shared'), ...args);
    const file = join(out('shared'), 'stories260k-F16.gguf');
    await exported('--to', 'gguf');
    expect(await exported('--to', 'gguf')).toMatchObject({ code: 0, complaints: '' });
    for (const other of [['merged'], ['gguf', '--dtype', 'Q8_0']]) {
      const { code, complaints } = await exported('--to', ...other);
      expect(code).toBe(1);
      expect(complaints).toBe(
        `rlp export: ${out('shared')} holds stories260k-F16.gguf of an earlier export, which this one would delete; choose another --out, or delete that folder`,
      );
      expect(existsSync(file)).toBe(true);
    }
  });

  it('says what it cannot write', async () => {
    const failing = async (...args: string[]) =>
      (await rlp('export', stories, '--out', out('none'), ...args)).complaints;
    expect(await failing('--to', 'pickle')).toContain(
      'expected --to merged, adapter, onnx, gguf, got pickle',
    );
    expect(await failing('--to', 'merged', '--dtype', 'Q8_0')).toContain(
      'expected --dtype F32 or F16 or BF16, got Q8_0',
    );
    expect(await failing('--to', 'adapter')).toContain('holds no adapter; give --adapter DIR');
    expect(existsSync(out('none'))).toBe(false);
  });
});
