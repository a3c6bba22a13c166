import { describe, expect, it } from 'vitest';

import { parseModelConfig } from '../config/parse-config.ts';
import { headParameter, linearLayers, parameterSpecs } from './parameters.ts';

const llama = {
  model_type: 'llama',
  vocab_size: 7,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  tie_word_embeddings: true,
};
const gpt2 = { model_type: 'gpt2', vocab_size: 7, n_embd: 64, n_layer: 2, n_head: 2, n_positions: 16 };

describe('parameterSpecs', () => {
  it('names parameters as Hugging Face does, in order', () => {
    const names = parameterSpecs(parseModelConfig({ ...llama, num_hidden_layers: 1, attention_bias: true }));
    expect(names.map(({ name, shape }) => `${name} [${shape}]`)).toEqual([
      'model.embed_tokens.weight [7,8]',
      'model.layers.0.input_layernorm.weight [8]',
      'model.layers.0.self_attn.q_proj.weight [8,8]',
      'model.layers.0.self_attn.q_proj.bias [8]',
      'model.layers.0.self_attn.k_proj.weight [8,8]',
      'model.layers.0.self_attn.k_proj.bias [8]',
      'model.layers.0.self_attn.v_proj.weight [8,8]',
      'model.layers.0.self_attn.v_proj.bias [8]',
      'model.layers.0.self_attn.o_proj.weight [8,8]',
      'model.layers.0.self_attn.o_proj.bias [8]',
      'model.layers.0.post_attention_layernorm.weight [8]',
      'model.layers.0.mlp.gate_proj.weight [12,8]',
      'model.layers.0.mlp.up_proj.weight [12,8]',
      'model.layers.0.mlp.down_proj.weight [8,12]',
      'model.norm.weight [8]',
    ]);
  });

  it('has a head of its own exactly where it is not tied', () => {
    const separate = parseModelConfig({ ...llama, tie_word_embeddings: false });
    expect(parameterSpecs(separate).at(-1)).toMatchObject({ name: 'lm_head.weight', shape: [7, 8] });
    expect(headParameter(separate)).toBe('lm_head.weight');
    expect(headParameter(parseModelConfig(llama))).toBe('model.embed_tokens.weight');
  });

  it('lists the linear layers that adapters attach to', () => {
    expect(linearLayers(parseModelConfig(llama))).toHaveLength(14);
    expect(linearLayers(parseModelConfig(gpt2))[0]).toEqual({
      weight: 'transformer.h.0.attn.c_attn.weight',
      bias: 'transformer.h.0.attn.c_attn.bias',
      inputs: 64,
      outputs: 192,
      order: 'in-out',
    });
  });
});
