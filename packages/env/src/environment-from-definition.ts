import {
  type Environment,
  FormatError,
  isRecord,
  messageOf,
  OptionsError,
  parseOptions,
  type RewardComputer,
  type RewardFunction,
  requireFields,
  type State,
  type Task,
  type TaskDefinition,
  taskDefinitionSchema,
  taskFromDefinition,
} from '@rlp/core';
import { ConversationEnvironment, type ConversationOptions } from './conversation-environment.ts';
import type { Tool } from './tools/tool.ts';
import { withTools } from './tools/with-tools.ts';

/** An environment of a task definition, of any states. */
export type DefinedEnvironment = Environment<State, TaskDefinition>;

/** What a {@link Resource} makes. */
export interface OpenResource {
  readonly environment: DefinedEnvironment;
  /** Frees what the environment holds. Default: nothing to free. */
  readonly close?: (() => Promise<void>) | undefined;
}

/**
 * Makes the environment of a kind of world.
 *
 * @param config - `baseResourceConfig` of the definition. Throw for what is wrong in it.
 * @param tools - What the module of `toolsModulePath` exports, for the policy to call.
 */
export type Resource = (
  config: Readonly<Record<string, unknown>>,
  tools: readonly Tool[],
) => OpenResource | Promise<OpenResource>;

/** What {@link environmentFromDefinition} needs besides the definition. */
export interface FromDefinitionOptions {
  /** Loads a module by its path in the definition, such as `(path) => import(new URL(path, import.meta.url).href)`. Required. */
  readonly load: (path: string) => unknown;
  /** Kinds of worlds by `resourceType`. They come on top of `conversation`. Default none. */
  readonly resources?: Readonly<Record<string, Resource>> | undefined;
}

/** What a task definition describes. */
export interface FromDefinition {
  /** The task, with the definition as its metadata. Its `terminationPattern` ends an episode in a rollout. */
  readonly task: Task<TaskDefinition>;
  readonly environment: DefinedEnvironment;
  /** What the module of `rewardFunctionPath` exports. */
  readonly reward: RewardFunction<TaskDefinition> | RewardComputer<TaskDefinition>;
  /** Frees what the environment holds. */
  close(): Promise<void>;
}

/**
 * The environment, the task and the reward that a task definition describes. Loads the modules that it names.
 *
 * A tools module exports an array as `tools` or as its default. A reward module exports a function or a reward computer as `reward` or as its
 * default. `resourceType` `'conversation'` is a `ConversationEnvironment` with `baseResourceConfig` as options. Others are what you pass as
 * `resources`, such as `folderResource()` of `@rlp/env/folder`.
 *
 * @throws OptionsError for a definition that is wrong, with every problem. FormatError for a module that cannot be loaded or
 * exports something else.
 */
export async function environmentFromDefinition(
  definition: TaskDefinition,
  options: FromDefinitionOptions,
): Promise<FromDefinition> {
  requireFields('environmentFromDefinition', { load: 'function' }, options);
  const { load, resources = {} } = options;
  const owner = 'environmentFromDefinition';
  const parsed = parseOptions(owner, taskDefinitionSchema, definition, 'TaskDefinition');
  const known: Readonly<Record<string, Resource>> = { conversation, ...resources };
  if (!Object.hasOwn(known, parsed.resourceType)) {
    const names = Object.keys(known).join(', ');
    throw new OptionsError(owner, [
      `resourceType: expected one of ${names}, got "${parsed.resourceType}": pass the kind as resources`,
    ]);
  }
  const exported = async (field: 'toolsModulePath' | 'rewardFunctionPath', name: string) => {
    const path = parsed[field]!;
    const place = `${owner}: ${field} "${path}" of the task "${parsed.name}"`;
    return { place, value: exportOf(await loaded(load, path, place), name) };
  };
  const reward = rewardIn(await exported('rewardFunctionPath', 'reward'));
  const tools =
    parsed.toolsModulePath === undefined ? [] : toolsIn(await exported('toolsModulePath', 'tools'));
  const { environment, close } = await known[parsed.resourceType]!(parsed.baseResourceConfig, tools);
  return { task: taskFromDefinition(parsed), environment, reward, close: async () => close?.() };
}

/** A dialogue, with the tools of the definition. */
const conversation: Resource = (config, tools) => {
  const environment = new ConversationEnvironment<TaskDefinition>(
    config as ConversationOptions<TaskDefinition>,
  );
  const given = tools.length === 0 ? environment : withTools(environment, tools);
  return { environment: given as DefinedEnvironment };
};

/** What a module exports, and where it was named. */
interface Exported {
  readonly place: string;
  readonly value: unknown;
}

async function loaded(load: (path: string) => unknown, path: string, place: string): Promise<unknown> {
  try {
    return await load(path);
  } catch (error) {
    throw new FormatError(`${place} cannot be loaded: ${messageOf(error)}`, { cause: error });
  }
}

function exportOf(module: unknown, name: string): unknown {
  if (typeof module !== 'object' || module === null) return undefined;
  const exports = module as Readonly<Record<string, unknown>>;
  return exports[name] ?? exports.default;
}

function toolsIn({ place, value }: Exported): readonly Tool[] {
  const isTool = (each: unknown) => isRecord(each) && isRecord(each.schema) && typeof each.run === 'function';
  if (Array.isArray(value) && value.length > 0 && value.every(isTool)) return value as readonly Tool[];
  throw new FormatError(`${place}: expected tools or a default export, an array of what tool() makes`);
}

function rewardIn({ place, value }: Exported): FromDefinition['reward'] {
  if (typeof value === 'function') return value as RewardFunction<TaskDefinition>;
  if (isRecord(value) && typeof value.computeRewards === 'function') {
    return value as unknown as RewardComputer<TaskDefinition>;
  }
  throw new FormatError(`${place}: expected reward or a default export, a function or a reward computer`);
}
