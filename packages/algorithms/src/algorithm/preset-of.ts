import { type AlgorithmPreset, algorithmPresets } from './presets.ts';

/** Options that name a preset. */
export interface WithPreset {
  readonly preset?: string | undefined;
}

/** A project's defaults for an algorithm. Empty for a name that the options' schema refuses. */
export function presetOf(
  algorithm: keyof typeof algorithmPresets,
  name: string | undefined,
): AlgorithmPreset {
  const presets: Readonly<Record<string, AlgorithmPreset>> = algorithmPresets[algorithm];
  return name !== undefined && Object.hasOwn(presets, name) ? presets[name]! : {};
}
