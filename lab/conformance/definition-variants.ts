import {
  type GaeOptions,
  type GroupRelativeOptions,
  gae,
  groupRelativeAdvantages,
} from '@rlp/algorithms/advantage';
import { advantagePresets } from '@rlp/algorithms/presets';
import { type WhiteningOptions, whitened } from '@rlp/algorithms/statistics';
import type { Adapter, AdapterTable, Fixture, FixtureCase } from './fixture.ts';

/** A case of `definition_variants.json`: one input under the definitions of several projects. */
export interface VariantCase {
  readonly id: string;
  readonly inputs: unknown;
  readonly variants: Readonly<Record<string, unknown>>;
}

/**
 * One case per definition, of kind `KIND/LABEL`, for every case that has variants; any other stays as it is.
 * Definitions that have no number for the input (they raise, or give NaN) are left out: there our result is documented.
 */
export function withoutVariants(
  fixture: Omit<Fixture, 'cases'> & { readonly cases: readonly (FixtureCase | VariantCase)[] },
): Fixture {
  const cases = fixture.cases.flatMap((fixtureCase): FixtureCase[] => {
    if (!('variants' in fixtureCase)) return [fixtureCase];
    const { id, inputs, variants } = fixtureCase;
    return Object.entries(variants)
      .filter(([, expected]) => !/"nan"|"-?inf"|"throws"/.test(JSON.stringify(expected)))
      .map(([label, expected]) => ({
        id: `${id} ${label}`,
        fn: `${id.split('/')[0]}/${label}`,
        inputs,
        params: {},
        expected,
      }));
  });
  return { ...fixture, cases };
}

function group(options: GroupRelativeOptions): Adapter {
  return ({ inputs }) => groupRelativeAdvantages([inputs.rewards], options)[0];
}

function returns(options: GaeOptions): Adapter {
  return ({ inputs: { rewards, values, mask: masks, gamma, lam } }) =>
    gae({ rewards, values, masks }, { ...options, outside: 'zero', discount: gamma, lambda: lam }).returns;
}

function whitening(options: WhiteningOptions): Adapter {
  return ({ inputs: { values, mask } }) =>
    mask ? whitened(values, mask, options) : whitened([values], mask, options)[0];
}

const { verl, trl, skyrl, slime, openrlhf, rollouts, art, areal } = advantagePresets;
const vectorized = advantagePresets['verl-vectorized'];

const kinds = {
  group_advantage: {
    'verl grpo (unbiased std + 1e-6; single member keeps raw reward)': group(verl.grpo),
    'verl grpo vectorized (variance floored at 1e-6, + 1e-6)': group(vectorized.grpo),
    'verl dr_grpo (no std)': group({ ...verl.grpo, scale: 'none' }),
    'TRL scale_rewards=group (unbiased std + 1e-4)': group(trl.grpo),
    'slime (unbiased std + 1e-6)': group(slime.grpo),
    'OpenRLHF group_norm (unbiased std + 1e-9; formula)': group(openrlhf.grpo),
    'rollouts (unbiased std, no epsilon, skipped when std <= 1e-6)': group(rollouts.grpo),
    'ART and mlx-node style (population std; ART + 1e-6) (formula)': group(art.grpo),
    'verl rloo': group(verl.rloo),
    'verl rloo vectorized': group(vectorized.rloo),
    'SkyRL rloo': group(skyrl.rloo),
    'TRL rloo': group(trl.rloo),
    'OpenRLHF rloo (formula)': group(openrlhf.rloo),
  },
  gae: {
    'verl returns (masked tokens are skipped)': returns(verl.gae),
    'SkyRL returns (no skipping)': returns(skyrl.gae),
    'OpenRLHF returns (values and rewards zeroed outside the mask)': returns(openrlhf.gae),
  },
  whitening: {
    'verl / TRL masked_whiten (unbiased variance, 1e-8 inside the root)': whitening(verl.whitening),
    'OpenRLHF (biased variance floored at 1e-8)': whitening(openrlhf.whitening),
    'AReaL masked_normalization (biased, std + 1e-5)': whitening(areal.whitening),
    'rl_primitives (unbiased std + 1e-8)': whitening({ epsilonPlacement: 'added' }),
    'verl masked_whiten': whitening(verl.whitening),
    'TRL masked_whiten': whitening(trl.whitening),
    AReaL: whitening(areal.whitening),
  },
};

export const definitionVariants: AdapterTable = {
  definition_variants: Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, adapters]) =>
      Object.entries(adapters).map(([label, adapter]) => [`${kind}/${label}`, adapter]),
    ),
  ),
};
