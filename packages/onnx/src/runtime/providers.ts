/** Hardware that ONNX Runtime computes on. */
export type ExecutionProvider = 'cpu' | 'webgpu' | 'cuda' | 'coreml' | 'dml';

/** Where the parameters of stores are: in host memory, or on the device that computes. */
export type Residency = 'host' | 'device';

/** Where a provider keeps parameters. */
export function residencyOf(provider: ExecutionProvider): Residency {
  return provider === 'webgpu' || provider === 'cuda' ? 'device' : 'host';
}
