import {
  ArgumentError,
  isRecord,
  nearNames,
  OptionsError,
  parseOptions,
  type RewardFunction,
  type Verifier,
} from '@rlp/core';
import * as z from 'zod';
import { applyVerifiersToReward } from '../verification/apply-verifiers.ts';
import {
  type FunctionRewardComputer,
  type RewardFunctionsOptions,
  type RewardPart,
  rewardFunctions,
} from './reward-functions.ts';

const partSchema = z.strictObject({
  /** Name of the registered reward. Required. */
  name: z.string().min(1),
  /** Name of the component. Required if a reward is used twice. Default: `name`. */
  as: z.string().min(1).optional(),
  /** Factor in the sum. 0 observes only. Default 1. */
  weight: z.number().default(1),
  /** Parameters of the reward's factory. Default `{}`. */
  params: z.record(z.string(), z.unknown()).default({}),
  /** Registered verifiers. The reward does not run on a response that one of them fails. Default `[]`. */
  verifiers: z.array(z.string()).readonly().default([]),
  /** Reward of such a response; `null` makes it unscorable. Default 0. */
  verifierPenalty: z.number().nullable().default(0),
});

const configSchema = z.array(partSchema).min(1, 'expected at least one reward');

/** Names that complete in the editor. Any other text is taken too, because configs are read from files, and refused when it is used. */
type Known<Name extends string> = Name | (string & {});

/** One reward of a config, as JSON data. */
export interface RegisteredRewardConfig<Name extends string = string, VerifierName extends string = string>
  extends Omit<z.input<typeof partSchema>, 'name' | 'verifiers'> {
  /** Name of the registered reward. Required. */
  readonly name: Known<Name>;
  /** Registered verifiers. The reward does not run on a response that one of them fails. Default `[]`. */
  readonly verifiers?: readonly Known<VerifierName>[] | undefined;
}

/** Names of a registry's rewards, as in `RewardName<typeof registry>`. */
export type RewardName<Registry extends { readonly rewardNames: readonly string[] }> =
  Registry['rewardNames'][number];

/** Makes a reward from its parameters: `cosineScaled`, `() => brevity`, `(params: Options) => pointwiseJudge({ generator, ...params })`. */
export type RewardFactory<Metadata> = (
  params: never,
) => RewardFunction<Metadata> | { readonly reward: RewardFunction<Metadata> };

/** What configs may name. */
export interface RewardRegistryEntries<
  Metadata,
  Name extends string = string,
  VerifierName extends string = string,
> {
  readonly rewards: Readonly<Record<Name, RewardFactory<Metadata>>>;
  readonly verifiers?: Readonly<Record<VerifierName, Verifier>> | undefined;
}

/**
 * Rewards and verifiers by name, so that a config read from a file says what a run is rewarded for. A value: it holds what it was
 * made from, and no other registry sees it. Its names complete in the editor where configs are written in place.
 */
export class RewardRegistry<
  Metadata = unknown,
  Name extends string = string,
  VerifierName extends string = string,
> {
  readonly #rewards: ReadonlyMap<string, RewardFactory<Metadata>>;
  readonly #verifiers: ReadonlyMap<string, Verifier>;

  /** @throws OptionsError for a reward that is not a factory, or an object without `verifyBatch`. */
  constructor(entries: RewardRegistryEntries<Metadata, Name, VerifierName>) {
    const { rewards, verifiers } = { ...entries };
    if (!isRecord(rewards))
      throw new OptionsError('RewardRegistry', ['rewards: must be functions from parameters by name']);
    this.#rewards = new Map(Object.entries<RewardFactory<Metadata>>(rewards));
    this.#verifiers = new Map(Object.entries<Verifier>(verifiers ?? {}));
    const issues = [
      ...[...this.#rewards]
        .filter(([, create]) => typeof create !== 'function')
        .map(
          ([name, create]) => `rewards.${name}: expected a function from parameters, got ${typeof create}`,
        ),
      ...[...this.#verifiers]
        .filter(([, verifier]) => typeof (verifier as Partial<Verifier> | null)?.verifyBatch !== 'function')
        .map(([name]) => `verifiers.${name}: expected an object with verifyBatch`),
    ];
    if (issues.length > 0) throw new OptionsError('RewardRegistry', issues);
  }

  /** Names of the rewards, in the order they were given. */
  get rewardNames(): readonly Name[] {
    return [...this.#rewards.keys()] as Name[];
  }

  /** Names of the verifiers, in the order they were given. */
  get verifierNames(): readonly VerifierName[] {
    return [...this.#verifiers.keys()] as VerifierName[];
  }

  /**
   * The weighted sum of registered rewards, each behind its verifiers; see {@link rewardFunctions}.
   *
   * @param configs - JSON data, as read from a file.
   * @throws OptionsError naming everything that is wrong with all of them: fields, names, parameters.
   */
  createRewards(
    configs: readonly RegisteredRewardConfig<Name, VerifierName>[],
    options: RewardFunctionsOptions = {},
  ): FunctionRewardComputer<Metadata> {
    const issues: string[] = [];
    const parts = new Map<string, RewardPart<Metadata>>();
    for (const [index, config] of parseOptions('createRewards', configSchema, configs).entries()) {
      const component = config.as ?? config.name;
      if (parts.has(component)) issues.push(`${index}.as: "${component}" is taken; name this one otherwise`);
      const found = this.#part(config);
      if (typeof found !== 'function') issues.push(...found.map((issue) => `${index}.${issue}`));
      else parts.set(component, { reward: found, weight: config.weight });
    }
    if (issues.length > 0) throw new OptionsError('createRewards', issues);
    return rewardFunctions(Object.fromEntries(parts), options);
  }

  /** The reward behind its verifiers, or what is wrong. */
  #part(config: z.output<typeof partSchema>): RewardFunction<Metadata> | string[] {
    const create = this.#rewards.get(config.name);
    const issues = config.verifiers
      .filter((name) => !this.#verifiers.has(name))
      .map((name) => `verifiers: expected one of ${this.verifierNames.join(', ') || 'none'}, got "${name}"`);
    if (create === undefined) {
      return [
        `name: expected one of ${this.rewardNames.join(', ') || 'none'}, got "${config.name}"${meant(config.name, this.rewardNames)}`,
        ...issues,
      ];
    }
    try {
      const made = create(config.params as never);
      const reward = typeof made === 'function' ? made : made.reward;
      if (issues.length > 0) return issues;
      const verifiers = config.verifiers.map((name) => this.#verifiers.get(name)!);
      if (verifiers.length === 0) return reward;
      return applyVerifiersToReward(reward, verifiers, { penaltyOnFailure: config.verifierPenalty });
    } catch (error) {
      if (error instanceof ArgumentError) return [`params: ${error.message}`, ...issues];
      if (!(error instanceof OptionsError)) throw error;
      return [...error.issues.map((issue) => `params: ${issue}`), ...issues];
    }
  }
}

/** `; did you mean …?`, or nothing. */
function meant(given: string, names: readonly string[]): string {
  const near = nearNames(given, names, String).join(' or ');
  return near && `; did you mean ${near}?`;
}
