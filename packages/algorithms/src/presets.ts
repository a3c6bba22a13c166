export { type AdvantagePreset, advantagePresets } from './advantage/presets.ts';
export { type AlgorithmPreset, algorithmPresets, type PresetName } from './algorithm/presets.ts';
export { type LossPreset, lossPresets } from './loss/presets.ts';
