import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseModelConfig } from '../config/parse-config.ts';
import { createModel } from '../model/create-model.ts';
import type { LanguageModel } from '../model/language-model.ts';
import { byteTokenizer } from '../tokenizer/built-tokenizers.ts';

/** A model of the shape of a fixture with random weights and a tokenizer of bytes. */
export function tinyModel(fixture: string, changes: Readonly<Record<string, unknown>> = {}): LanguageModel {
  const path = fileURLToPath(new URL(`../../fixtures/testdata/${fixture}/config.json`, import.meta.url));
  const json = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const tokenizer = byteTokenizer({ begin: '<s>', end: '</s>' });
  const ids = { bos_token_id: null, eos_token_id: null, pad_token_id: null };
  const sizes = { vocab_size: tokenizer.vocabularySize, initializer_range: 0.3 };
  const config = parseModelConfig({ ...json, ...sizes, ...ids, ...changes }, fixture);
  return createModel({ config, tokenizer, seed: fixture });
}

/** The same model, as if its weights stayed in a file: they can be copied, but not kept. */
export function unkept(model: LanguageModel): LanguageModel {
  const weights = [...model.weights].map(([name, { shape, data: numbers }]) => {
    const tensor = {
      shape,
      copyTo: (target: Float32Array, first: number) =>
        target.set(numbers.subarray(first, first + target.length)),
      get data(): Float32Array {
        throw new Error(`the whole of "${name}" was asked for`);
      },
    };
    return [name, tensor] as const;
  });
  return { ...model, weights: new Map(weights) };
}
