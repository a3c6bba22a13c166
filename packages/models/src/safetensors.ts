/** Safetensors files: reading, writing, and the floats in them. */
export { fileTensors } from './safetensors/file-tensors.ts';
export { decodeFloats, encodeFloats, type FloatType, floatSize } from './safetensors/floats.ts';
export {
  parseSafetensorsHeader,
  type SafetensorsHeader,
  type StoredTensor,
  type StoredType,
} from './safetensors/header.ts';
export {
  openSafetensors,
  type ReadOptions,
  readSafetensors,
  readTensors,
  type SafetensorsCheckpoint,
} from './safetensors/read.ts';
export { type WriteSafetensorsOptions, writeSafetensors } from './safetensors/write.ts';
