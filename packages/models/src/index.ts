export { decodeFloats, encodeFloats, type FloatType, floatSize } from './safetensors/floats.ts';
export {
  parseSafetensorsHeader,
  type SafetensorsHeader,
  type StoredTensor,
  type StoredType,
} from './safetensors/header.ts';
export {
  openSafetensors,
  readSafetensors,
  readTensors,
  type SafetensorsCheckpoint,
} from './safetensors/read.ts';
export { type WriteSafetensorsOptions, writeSafetensors } from './safetensors/write.ts';
