import { configError } from './validation.ts';

/** Fields that decide the heads of attention. */
interface HeadFields {
  readonly num_attention_heads: number;
  readonly num_key_value_heads?: number | null | undefined;
  readonly head_dim?: number | null | undefined;
  readonly hidden_size: number;
}

/** Heads of attention. @throws FormatError if they do not divide what they have to. */
export function attentionShape(fields: HeadFields, file: string) {
  const { num_attention_heads: heads, hidden_size: hidden } = fields;
  const keyValueHeads = fields.num_key_value_heads ?? heads;
  if (heads % keyValueHeads !== 0) {
    const problem = `${keyValueHeads} does not divide the ${heads} attention heads`;
    throw configError(file, 'num_key_value_heads', problem);
  }
  const headDimension = fields.head_dim ?? hidden / heads;
  if (!Number.isInteger(headDimension)) {
    throw configError(file, 'num_attention_heads', `${heads} does not divide the hidden size ${hidden}`);
  }
  if (headDimension % 2 !== 0) {
    throw configError(file, 'head_dim', `rotary encoding needs an even number, got ${headDimension}`);
  }
  return { heads, keyValueHeads, headDimension };
}
