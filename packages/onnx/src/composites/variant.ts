/**
 * Operators that a composite is built from.
 *
 * - `'fused'`: ONNX Runtime's operators if they are faster. For float32 on the CPU and CUDA providers.
 * - `'standard'`: operators of the ONNX standard. For every execution provider and floating-point type.
 */
export type OperatorSet = 'fused' | 'standard';
