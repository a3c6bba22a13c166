import { isRecord, requireArguments, requireChoice } from '@rlp/core';
import { dapoDefaults } from './dapo.ts';
import { drGrpoDefaults } from './dr-grpo.ts';
import { gigpoDefaults } from './gigpo.ts';
import { grpoDefaults } from './grpo.ts';
import { gspoDefaults } from './gspo.ts';
import { layered } from './layered.ts';
import type { AlgorithmOptions } from './options.ts';
import { ppoDefaults } from './ppo.ts';
import type { WithPreset } from './preset-of.ts';
import { reinforceDefaults } from './reinforce.ts';
import { rlooDefaults } from './rloo.ts';
import type { algorithmSchemas } from './schemas.ts';

type Below = (options: AlgorithmOptions & WithPreset) => readonly AlgorithmOptions[];

const defaults: Readonly<Record<keyof typeof algorithmSchemas, Below>> = {
  grpo: grpoDefaults,
  ppo: (options) => ppoDefaults(options),
  rloo: rlooDefaults,
  reinforce: (options) => reinforceDefaults(options),
  dapo: () => [dapoDefaults],
  'dr-grpo': ({ rollout }) => [
    drGrpoDefaults(isRecord(rollout?.sampling) ? rollout.sampling.maxTokens : undefined),
  ],
  gspo: () => [gspoDefaults],
  gigpo: () => [gigpoDefaults],
};

/**
 * What an algorithm of that name trains with: the caller's options, over those of their preset, over the algorithm's own. What none of
 * them gives is left out. Checks nothing; `algorithmSchemas` do.
 *
 * @throws ArgumentError for another name.
 * @example
 * algorithmOptions('ppo').epochs // 4
 */
export function algorithmOptions(
  name: keyof typeof algorithmSchemas,
  options: AlgorithmOptions & WithPreset = {},
): AlgorithmOptions {
  requireChoice('algorithmOptions', 'name', name, Object.keys(defaults));
  requireArguments('algorithmOptions', { name: 'text', options: 'object' }, name, options);
  return layered<AlgorithmOptions>(...defaults[name](options), options);
}
