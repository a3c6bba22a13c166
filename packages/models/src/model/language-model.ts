import type { Weights } from '@rlp/core';

import type { TemplateChatRenderer } from '../chat/chat-renderer.ts';
import type { ModelConfig } from '../config/model-config.ts';
import type { StoredTensor } from '../safetensors/header.ts';
import type { TextTokenizer } from '../tokenizer/text-tokenizer.ts';

/** A decoder with weights, a tokenizer and, if it was trained to chat, a chat format. */
export interface LanguageModel {
  readonly config: ModelConfig;
  /** By canonical name: exactly those of `parameterSpecs(config)`. */
  readonly weights: Weights;
  readonly tokenizer: TextTokenizer;
  readonly chat: TemplateChatRenderer | undefined;
  /** Location of each weight on disk, by canonical name, to map instead of copy. Empty for a fresh model. */
  readonly files: ReadonlyMap<string, StoredTensor>;
  /** Folder that it was loaded from. Adapters name it as their base model. Absent for a fresh model. */
  readonly folder?: string | undefined;
}
