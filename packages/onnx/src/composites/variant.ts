import { fusedMatmul, standardMatmul } from '../ops/matrix.ts';
import type { ExecutionProvider } from '../runtime/providers.ts';

/**
 * Operators that a composite is built from.
 *
 * - `'fused'`: ONNX Runtime's operators if they are faster. For float32 on the CPU and CUDA providers.
 * - `'portable'`: those of them that the WebGPU provider has too.
 * - `'standard'`: operators of the ONNX standard. For every execution provider and floating-point type.
 */
export type OperatorSet = 'fused' | 'portable' | 'standard';

/** The fastest operators that a provider computes itself. It would leave others to the processor, with a copy each way. */
export function operatorsOf(provider: ExecutionProvider): OperatorSet {
  if (provider === 'webgpu') return 'portable';
  return provider === 'cpu' || provider === 'cuda' ? 'fused' : 'standard';
}

/** Matrix products of a set. WebGPU has no `FusedMatMul`. */
export function matmulOf(ops: OperatorSet = 'fused'): typeof fusedMatmul {
  return ops === 'fused' ? fusedMatmul : standardMatmul;
}
