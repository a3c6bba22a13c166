import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseModelConfig } from '../config/parse-config.ts';
import { writeSafetensors } from '../safetensors/write.ts';
import { adapterTensorNames, loraScale, parseAdapterConfig, readLoraAdapter } from './lora-adapter.ts';
import { adaptedWeights, outputNorms } from './write-adapter.ts';

const config = parseModelConfig({
  model_type: 'llama',
  vocab_size: 8,
  hidden_size: 4,
  intermediate_size: 6,
  num_hidden_layers: 2,
  num_attention_heads: 2,
});
const settings = { peft_type: 'LORA', r: 2, lora_alpha: 6 };
const tensor = (...shape: number[]) => ({
  shape,
  data: new Float32Array(shape.reduce((size, length) => size * length, 1)).fill(1),
});

const query = adapterTensorNames('model.layers.0.self_attn.q_proj.weight');

async function folderWith(
  json: unknown,
  tensors: Readonly<Record<string, ReturnType<typeof tensor>>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rlp-adapter-'));
  await writeFile(join(folder, 'adapter_config.json'), JSON.stringify(json));
  await writeSafetensors(join(folder, 'adapter_model.safetensors'), new Map(Object.entries(tensors)));
  return folder;
}

describe('settings of an adapter', () => {
  it('are read with what PEFT leaves out, empty or off', () => {
    const file = {
      ...settings,
      use_dora: false,
      modules_to_save: null,
      rank_pattern: {},
      layers_to_transform: [],
    };
    expect(parseAdapterConfig(file, 'a')).toEqual({
      variant: 'lora',
      rank: 2,
      alpha: 6,
      dropout: 0,
      scaling: 'rank',
      baseModel: undefined,
      modulesToSave: [],
    });
    const named = {
      ...settings,
      r: 4,
      lora_dropout: 0.05,
      use_rslora: true,
      use_dora: true,
      base_model_name_or_path: 'org/base',
      modules_to_save: ['lm_head'],
    };
    const read = parseAdapterConfig(named, 'a');
    expect(read).toEqual({
      ...{ variant: 'dora', rank: 4, alpha: 6, dropout: 0.05 },
      ...{ scaling: 'root-rank', baseModel: 'org/base', modulesToSave: ['lm_head'] },
    });
    expect(loraScale(read)).toBe(3);
  });

  it.each([
    [{ peft_type: 'IA3' }, 'a: peft_type: only LoRA adapters are supported'],
    [{ peft_type: 'PROMPT_TUNING' }, 'a: peft_type: only LoRA'],
    [{ use_dora: 3 }, 'a: use_dora:'],
    [{ modules_to_save: 'lm_head' }, 'a: modules_to_save:'],
    [{ rank_pattern: { q_proj: 4 } }, 'layers have different ranks'],
    [{ alpha_pattern: { q_proj: 4 } }, 'layers have different scales'],
    [{ layers_to_transform: 1 }, 'only some layers are adapted'],
    [{ bias: 'all' }, 'bias: only \'none\' is supported, got "all"'],
    [{ init_lora_weights: 'pissa_niter_16' }, 'changes the weights of the base model'],
    [{ init_lora_weights: 'olora' }, 'changes the weights of the base model'],
    [{ r: 0 }, 'a: r:'],
    [{ r: 1.5 }, 'a: r:'],
    [{ lora_alpha: 'x' }, 'a: lora_alpha:'],
  ])('are refused with the field and a remedy: %j', (change, message) => {
    expect(() => parseAdapterConfig({ ...settings, ...change }, 'a')).toThrow(message);
  });

  it.each([true, 'gaussian', 'eva'])('may begin in any way that leaves the base alone: %s', (init) => {
    expect(parseAdapterConfig({ ...settings, init_lora_weights: init }, 'a').rank).toBe(2);
  });
});

describe('files of an adapter', () => {
  it('give the factors of each adapted layer', async () => {
    const folder = await folderWith(settings, { [query.down]: tensor(2, 4), [query.up]: tensor(4, 2) });
    const { layers, scale } = await readLoraAdapter(folder, config);
    expect(scale).toBe(3);
    expect(layers.map(({ layer }) => layer.weight)).toEqual(['model.layers.0.self_attn.q_proj.weight']);
    expect(layers[0]!.down.shape).toEqual([2, 4]);
  });

  it.each([
    [{ [query.down]: tensor(2, 4) }, 'expected lora_A [2, 4] and lora_B [4, 2], got [2, 4] and none'],
    [
      { [query.down]: tensor(2, 5), [query.up]: tensor(4, 2) },
      'got [2, 5] and [4, 2]; is it of another model?',
    ],
    [{}, 'holds no factors; give the adapter of this model'],
    [
      {
        [query.down]: tensor(2, 4),
        [query.up]: tensor(4, 2),
        'base_model.model.lm_head.lora_A.weight': tensor(2, 4),
      },
      'got "base_model.model.lm_head.lora_A.weight"; give the adapter of this model',
    ],
  ])('that do not fit the model are refused (%#)', async (tensors, message) => {
    await expect(readLoraAdapter(await folderWith(settings, tensors), config)).rejects.toThrow(message);
  });

  it('of DoRA give the rows of a merged weight their lengths', async () => {
    const lengths = { data: Float32Array.of(1, 2, 3, 4), shape: [4] };
    const factors = { [query.down]: tensor(2, 4), [query.up]: tensor(4, 2) };
    const dora = { ...settings, use_dora: true };
    const folder = await folderWith(dora, { ...factors, [query.magnitude]: lengths });
    const adapter = await readLoraAdapter(folder, config);
    const { layer } = adapter.layers[0]!;
    const base = { shape: [4, 4], data: Float32Array.from({ length: 16 }, (_, i) => Math.sin(i)) };
    const merged = adaptedWeights(new Map([[layer.weight, base]]), adapter).get(layer.weight)!;
    const norms = outputNorms(merged.data as Float32Array, layer);
    for (const [row, norm] of norms.entries()) expect(norm).toBeCloseTo(row + 1, 5);
    await expect(readLoraAdapter(await folderWith(dora, factors), config)).rejects.toThrow(
      'lora_magnitude_vector [4], because use_dora is true, got none',
    );
  });

  it('give the modules that were trained in full, and these replace the weights of the model', async () => {
    const factors = { [query.down]: tensor(2, 4), [query.up]: tensor(4, 2) };
    const head = { 'base_model.model.lm_head.weight': tensor(8, 4) };
    const saved = { ...settings, modules_to_save: ['lm_head'] };
    const adapter = await readLoraAdapter(await folderWith(saved, { ...factors, ...head }), config);
    expect([...adapter.modules.keys()]).toEqual(['lm_head.weight']);
    const base = new Map([['model.layers.0.self_attn.q_proj.weight', tensor(4, 4)]]);
    expect(adaptedWeights(base, adapter).get('lm_head.weight')).toBe(adapter.modules.get('lm_head.weight'));
    await expect(readLoraAdapter(await folderWith(saved, factors), config)).rejects.toThrow(
      'expected base_model.model.lm_head.weight [8, 4], because modules_to_save names it, got none',
    );
    await expect(
      readLoraAdapter(await folderWith(settings, { ...factors, ...head }), config),
    ).rejects.toThrow('got "base_model.model.lm_head.weight"; give the adapter of this model');
    const wrong = { ...saved, modules_to_save: ['lm_heat'] };
    await expect(readLoraAdapter(await folderWith(wrong, factors), config)).rejects.toThrow(
      'no module\'s path ends with "lm_heat"; this model has embed_tokens, input_layernorm',
    );
  });

  it('whose embedding and head were trained apart are refused if the model shares them', async () => {
    const tied = { ...config, outputHead: 'tied' } as const;
    const factors = { [query.down]: tensor(2, 4), [query.up]: tensor(4, 2) };
    const saved = { ...settings, modules_to_save: ['embed_tokens'] };
    const embedding = { 'base_model.model.model.embed_tokens.weight': tensor(8, 4) };
    const head = (value: number) => ({
      'base_model.model.lm_head.weight': { shape: [8, 4], data: new Float32Array(32).fill(value) },
    });
    const read = async (tensors: Parameters<typeof folderWith>[1]) =>
      readLoraAdapter(await folderWith(saved, { ...factors, ...embedding, ...tensors }), tied);
    expect((await read(head(1))).modules.size).toBe(1);
    await expect(read(head(2))).rejects.toThrow('lm_head.weight differ, but this model shares them');
    await expect(read({})).rejects.toThrow('without ensure_weight_tying PEFT trains it apart');
  });

  it('are asked for where there are none', async () => {
    await expect(readLoraAdapter(tmpdir(), config)).rejects.toThrow(
      'no such file; give the folder of a PEFT adapter',
    );
  });
});
