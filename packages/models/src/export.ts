/** Models for other programs: GGUF for llama.cpp, ONNX for transformers.js, adapters for PEFT. */

export { exportAdapter } from './export/export-adapter.ts';
export { type ExportedModel, type ExportGgufOptions, exportGguf } from './export/gguf/export-gguf.ts';
export { type ExportOnnxOptions, exportOnnx } from './export/onnx/export-onnx.ts';
