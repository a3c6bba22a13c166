/** Layers of language models, made of operators, with gradient rules that are faster than those of their parts. */
export * from './composites/activation.ts';
export * from './composites/attention.ts';
export { type BlockedAttention, blockedAttention } from './composites/blocked-attention.ts';
export { type BranchedAttentionOptions, branchedAttention } from './composites/branched-attention.ts';
export * from './composites/embedding.ts';
export * from './composites/language-head.ts';
export * from './composites/nf4-linear.ts';
export * from './composites/normalization.ts';
export {
  fullLayout,
  type HeadMover,
  headMover,
  layoutMask,
  type PackedAttentionOptions,
  packedAttention,
  type QueryBlocks,
  type TokenLayout,
} from './composites/packed-attention.ts';
export * from './composites/picked-rows.ts';
export * from './composites/quantized-linear.ts';
export * from './composites/rotary.ts';
export { type SplitAttentionOptions, splitAttention } from './composites/split-attention.ts';
export { type OperatorSet, operatorsOf } from './composites/variant.ts';
