import { OptionsError } from '@rlp/core';
import { type AlgorithmPreset, algorithmPresets } from './presets.ts';

/** @throws OptionsError for a project that has no defaults for the algorithm. */
export function presetOf(
  owner: string,
  algorithm: keyof typeof algorithmPresets,
  name: string | undefined,
): AlgorithmPreset {
  if (name === undefined) return {};
  const presets: Readonly<Record<string, AlgorithmPreset>> = algorithmPresets[algorithm];
  if (Object.hasOwn(presets, name)) return presets[name]!;
  throw new OptionsError(owner, [`preset: expected one of ${Object.keys(presets).join(', ')}, got ${name}`]);
}
