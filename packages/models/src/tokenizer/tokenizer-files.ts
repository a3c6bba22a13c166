import type { TokenId } from '@rlp/core';

/** Parsed files of a tokenizer. */
export interface TokenizerFiles {
  /** Content of `tokenizer.json`. */
  readonly tokenizer: Readonly<Record<string, unknown>>;
  /** Content of `tokenizer_config.json`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Content of other tokenizer files by name. They are kept when the model is saved. */
  readonly others?: Readonly<Record<string, string>>;
}

/** Begin and end tokens that override those of the tokenizer's config. */
export interface TokenRoles {
  readonly bosId?: TokenId | undefined;
  readonly eosIds?: readonly TokenId[] | undefined;
}
