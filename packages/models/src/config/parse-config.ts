import { parseGemma3 } from './gemma3-config.ts';
import { parseGpt2 } from './gpt2-config.ts';
import { parseLlamaFamily } from './llama-config.ts';
import type { Architecture, DecoderConfig, ModelConfig } from './model-config.ts';
import { generationSchema } from './schemas.ts';
import { configError, parseContent } from './validation.ts';

const PARSERS: Readonly<
  Record<Architecture, (json: Record<string, unknown>, file: string) => DecoderConfig>
> = {
  llama: parseLlamaFamily,
  mistral: parseLlamaFamily,
  qwen2: parseLlamaFamily,
  qwen3: parseLlamaFamily,
  qwen3_moe: parseLlamaFamily,
  smollm3: parseLlamaFamily,
  olmo2: parseLlamaFamily,
  phi3: parseLlamaFamily,
  gemma3_text: parseGemma3,
  gpt2: parseGpt2,
};

/**
 * Reads a Hugging Face `config.json`, old style or new (`rope_parameters`, `dtype`), into a {@link ModelConfig}.
 *
 * @param file - Named in error messages. Default `'config.json'`.
 * @param generation - Content of `generation_config.json`, whose begin and end tokens override the config's.
 * @throws FormatError naming the file, the field and a remedy for a malformed or unsupported config.
 */
export function parseModelConfig(
  json: Readonly<Record<string, unknown>>,
  file = 'config.json',
  generation: Readonly<Record<string, unknown>> = {},
): ModelConfig {
  if (typeof json !== 'object' || json === null) {
    throw configError(file, 'file', `expected an object, got ${JSON.stringify(json)}`);
  }
  const type = json.model_type;
  if (typeof type !== 'string' || !Object.hasOwn(PARSERS, type)) {
    const problem = type === undefined ? 'it is missing' : `${JSON.stringify(type)} is not supported`;
    const supported = Object.keys(PARSERS).join(', ');
    throw configError(file, 'model_type', problem, `supported: ${supported}`);
  }
  if (json.quantization_config) {
    const remedy = 'use the unquantised checkpoint';
    throw configError(file, 'quantization_config', 'quantised weights are not supported', remedy);
  }
  const config = PARSERS[type as Architecture](json, file);
  return withGeneration(config, generation);
}

function withGeneration(config: DecoderConfig, generation: Readonly<Record<string, unknown>>): ModelConfig {
  const fields = parseContent(generationSchema, generation, 'generation_config.json');
  const { bos_token_id: bos, eos_token_id: eos, pad_token_id: padding } = fields;
  return {
    ...config,
    bosId: bos ?? config.bosId,
    eosIds: eos ?? config.eosIds,
    paddingId: padding ?? config.paddingId,
    generation,
  };
}
