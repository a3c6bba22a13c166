import type { TokenId } from '@rlp/core';

/** What a folder says about its tokenizer. */
export interface TokenizerFiles {
  /** Content of `tokenizer.json`. */
  readonly tokenizer: Readonly<Record<string, unknown>>;
  /** Content of `tokenizer_config.json`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Content of other tokenizer files that are kept when the model is saved, by name. */
  readonly others?: Readonly<Record<string, string>>;
}

/** Which tokens begin, end and pad, where something other than the tokenizer's own config says so. */
export interface TokenRoles {
  readonly bosId?: TokenId | undefined;
  readonly eosIds?: readonly TokenId[] | undefined;
}
