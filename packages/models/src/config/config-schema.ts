import { isRecord } from '@rlp/core';
import * as z from 'zod';
import type { ModelConfig } from './model-config.ts';

/** Schema of the shape of a model. What `config.json` holds is not one yet. */
export const modelConfigSchema = z.custom<ModelConfig>(
  (value) => isRecord(value) && typeof value.architecture === 'string' && typeof value.layers === 'number',
  'must be the shape of a model; parseModelConfig makes one of a config.json',
);
