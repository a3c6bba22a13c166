export { createTfjsBackend, TfjsTrainingBackend } from './tfjs/backend.ts';
export type { TfjsBackendOptions } from './tfjs/options.ts';
export type { TensorFlow, TfCustomGradient, TfTensor } from './tfjs/tensorflow.ts';
