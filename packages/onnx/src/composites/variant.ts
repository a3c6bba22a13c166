/**
 * Which operators a composite is made of: `'fused'` uses ONNX Runtime's own where they are faster (float32, CPU and CUDA);
 * `'standard'` keeps to the ONNX standard, which every execution provider and element type understands.
 */
export type OperatorSet = 'fused' | 'standard';
