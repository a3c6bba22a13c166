/** Element types of values. */
export type DataType = 'float32' | 'float16' | 'bfloat16' | 'float64' | 'int64' | 'int32' | 'uint8' | 'bool';

/** Code of each element type in ONNX's `TensorProto.DataType`, and bytes of one element. */
export const dataTypes: Readonly<Record<DataType, { readonly code: number; readonly bytes: number }>> = {
  float32: { code: 1, bytes: 4 },
  uint8: { code: 2, bytes: 1 },
  int32: { code: 6, bytes: 4 },
  int64: { code: 7, bytes: 8 },
  bool: { code: 9, bytes: 1 },
  float16: { code: 10, bytes: 2 },
  float64: { code: 11, bytes: 8 },
  bfloat16: { code: 16, bytes: 2 },
};

/** Whether values of this type can carry a gradient. */
export function isFloating(type: DataType): boolean {
  return type === 'float32' || type === 'float16' || type === 'bfloat16' || type === 'float64';
}
