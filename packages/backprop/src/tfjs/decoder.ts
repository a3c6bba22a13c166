import type { ModelConfig } from '@rlp/models';
import { Attention } from './attention.ts';
import { Layers, type Parameters } from './layers.ts';
import type { SaveTensors, TensorFlow, TfTensor } from './tensorflow.ts';

/** Token ids of right-padded sequences, `[rows, length]`, row-major. */
export interface TokenGrid {
  readonly rows: number;
  readonly length: number;
  readonly tokens: Int32Array;
}

/**
 * Logits of a decoder, `[rows · length, vocabulary]`, with TensorFlow.js operations.
 *
 * Written from the published models, independently of `decoderHidden` of `@rlp/models`, so the two check each
 * other. Call it inside `tf.tidy` or a function being differentiated. Those free its tensors.
 *
 * @see transformers 4.57: `modeling_llama.py`, `modeling_qwen2.py`, `modeling_qwen3.py`, `modeling_gpt2.py`
 */
export function decoderLogits(
  tf: TensorFlow,
  config: ModelConfig,
  parameters: Parameters,
  grid: TokenGrid,
): TfTensor {
  const layers = new Layers(tf, parameters);
  const isGpt2 = config.architecture === 'gpt2';
  const hidden = isGpt2 ? gpt2Hidden(config, layers, grid) : llamaHidden(config, layers, grid);
  const embedding = isGpt2 ? 'transformer.wte.weight' : 'model.embed_tokens.weight';
  const head = config.outputHead === 'tied' ? embedding : 'lm_head.weight';
  return tf.matMul(hidden, layers.parameter(head), false, true);
}

/** Llama, Mistral, Qwen2 (biases of query, key and value) and Qwen3 (norms of queries and keys). */
function llamaHidden(config: ModelConfig, layers: Layers, grid: TokenGrid): TfTensor {
  const { tf } = layers;
  const { epsilon } = config.norm;
  const attention = new Attention(tf, config, grid.rows, grid.length);
  let x = embedTokens(layers, 'model.embed_tokens.weight', grid);
  for (let index = 0; index < config.layers; index++) {
    const layer = `model.layers.${index}`;
    const attended = llamaAttention(config, layers, attention, {
      layer: `${layer}.self_attn`,
      x: layers.rmsNorm(x, `${layer}.input_layernorm`, epsilon),
    });
    x = tf.add(x, attended);
    const normed = layers.rmsNorm(x, `${layer}.post_attention_layernorm`, epsilon);
    const gate = layers.activate(
      config.feedForward.activation,
      layers.linear(normed, `${layer}.mlp.gate_proj`),
    );
    const up = layers.linear(normed, `${layer}.mlp.up_proj`);
    x = tf.add(x, layers.linear(tf.mul(gate, up), `${layer}.mlp.down_proj`));
  }
  return layers.rmsNorm(x, 'model.norm', epsilon);
}

function llamaAttention(
  config: ModelConfig,
  layers: Layers,
  attention: Attention,
  { layer, x }: { readonly layer: string; readonly x: TfTensor },
): TfTensor {
  const normed = (y: TfTensor, name: string) =>
    config.queryKeyNorm === 'per-head' ? normHeads(config, layers, y, `${layer}.${name}`) : y;
  const query = normed(layers.linear(x, `${layer}.q_proj`), 'q_norm');
  const key = normed(layers.linear(x, `${layer}.k_proj`), 'k_norm');
  const value = layers.linear(x, `${layer}.v_proj`);
  const mixed = attention.attend({ query: attention.rotate(query), key: attention.rotate(key), value });
  return layers.linear(mixed, `${layer}.o_proj`);
}

function normHeads(config: ModelConfig, layers: Layers, x: TfTensor, name: string): TfTensor {
  const [positions, width] = x.shape as [number, number];
  const heads = layers.tf.reshape(x, [positions, width / config.headDimension, config.headDimension]);
  return layers.tf.reshape(layers.rmsNorm(heads, name, config.norm.epsilon), [positions, width]);
}

function gpt2Hidden(config: ModelConfig, layers: Layers, grid: TokenGrid): TfTensor {
  const { tf } = layers;
  const { epsilon } = config.norm;
  const { rows, length } = grid;
  const width = config.hiddenSize;
  const attention = new Attention(tf, config, rows, length);
  const tokens = tf.reshape(embedTokens(layers, 'transformer.wte.weight', grid), [rows, length, width]);
  const positions = tf.slice(layers.parameter('transformer.wpe.weight'), [0, 0], [length, width]);
  let x = tf.reshape(tf.add(tokens, positions), [rows * length, width]);
  for (let index = 0; index < config.layers; index++) {
    const layer = `transformer.h.${index}`;
    const inputs = layers.convolution(layers.layerNorm(x, `${layer}.ln_1`, epsilon), `${layer}.attn.c_attn`);
    const part = (number: number) => tf.slice(inputs, [0, number * width], [rows * length, width]);
    const mixed = attention.attend({ query: part(0), key: part(1), value: part(2) });
    x = tf.add(x, layers.convolution(mixed, `${layer}.attn.c_proj`));
    const inner = layers.convolution(layers.layerNorm(x, `${layer}.ln_2`, epsilon), `${layer}.mlp.c_fc`);
    const activated = layers.activate(config.feedForward.activation, inner);
    x = tf.add(x, layers.convolution(activated, `${layer}.mlp.c_proj`));
  }
  return layers.layerNorm(x, 'transformer.ln_f', epsilon);
}

/**
 * Rows of the token table, `[rows · length, hidden]`.
 *
 * The gradient is a product with a one-hot matrix. TensorFlow.js uses a segment sum, which loops over the
 * vocabulary on some of its backends.
 */
function embedTokens(layers: Layers, table: string, { tokens }: TokenGrid): TfTensor {
  const { tf } = layers;
  const indices = tf.tensor(tokens, [tokens.length], 'int32');
  const weight = layers.parameter(table);
  const vocabulary = weight.shape[0]!;
  const lookUp = tf.customGrad((...given) => {
    const [rows, save] = given as [TfTensor, SaveTensors];
    save([indices]);
    return {
      value: tf.gather(rows, indices),
      gradFunc: (dy, [saved]) => [tf.matMul(tf.cast(tf.oneHot(saved!, vocabulary), 'float32'), dy, true)],
    };
  });
  return lookUp(weight);
}
