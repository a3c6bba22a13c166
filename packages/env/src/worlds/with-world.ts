import {
  type Environment,
  EnvironmentError,
  messageOf,
  type OpenWorld,
  parseOptions,
  requireArguments,
  requireFields,
  type SnapshotId,
  type State,
} from '@rlp/core';
import type * as z from 'zod';
import { type Keyed, opened } from '../layers/layer.ts';
import { environmentMethods, keyWith, lift } from '../lift.ts';
import {
  type Tool,
  type ToolArguments,
  type ToolContext,
  type ToolDefinition,
  type ToolParameters,
  tool,
} from '../tools/tool.ts';
import { ToolLayer, toolLayerSchema } from '../tools/tool-layer.ts';
import type { ToolUse } from '../tools/tool-use.ts';
import type { WorldLease } from './world-lease.ts';
import type { WorldPool } from './world-pool.ts';

/** What a tool in a world may use while it runs. */
export interface WorldToolContext<Live, S extends State = State> extends ToolContext<S> {
  /** The live world. This call has it for itself until it returns. */
  readonly world: Live;
}

/** A function that a policy may call in a world. Made by {@link worldTool}. */
export interface WorldTool<Live, S extends State = State>
  extends Pick<Tool<S>, 'schema' | 'cost' | 'timeoutMs'> {
  /** Runs a call, as `Tool.run`. */
  run(args: Readonly<Record<string, unknown>>, context: WorldToolContext<Live, S>): unknown;
}

/** What {@link worldTool} makes a tool of. */
export interface WorldToolDefinition<Parameters extends ToolParameters, Live, S extends State = State>
  extends Omit<ToolDefinition<Parameters, S>, 'execute'> {
  /** Does the work in `context.world`. Returns text, or a value that JSON can hold. */
  execute(args: ToolArguments<Parameters>, context: WorldToolContext<Live, S>): unknown;
}

/**
 * A tool that acts in a world, as `tool` makes one that does not.
 *
 * @throws OptionsError naming every problem at once.
 */
export function worldTool<Parameters extends ToolParameters, Live, S extends State = State>(
  definition: WorldToolDefinition<Parameters, Live, S>,
): WorldTool<Live, S> {
  return tool(definition as unknown as ToolDefinition<Parameters, S>) as WorldTool<Live, S>;
}

/** Options of {@link withWorld}. */
export interface WithWorldOptions<Live extends OpenWorld, Seen = unknown>
  extends z.input<typeof toolLayerSchema> {
  /** What rewards need to know about the world, as a value. Read at the start and after every change. It becomes the outcome. If it throws, the episode fails. Default none. */
  readonly observe?: ((world: Live) => Seen | Promise<Seen>) | undefined;
}

/** What {@link withWorld} keeps in the state besides its calls. */
export interface WorldPlace<Seen = unknown> {
  /** The world as it is in this state. */
  readonly id: SnapshotId;
  /** What `observe` read in it. */
  readonly seen?: Seen | undefined;
}

/** State of an environment over a world. */
export type WithWorld<S extends State, Seen = unknown> = Keyed<
  Keyed<S, 'place', WorldPlace<Seen>>,
  'world',
  ToolUse
>;

/**
 * The same environment, in which the policy acts by tools in a world that is not a value, such as a folder or a database.
 *
 * The state holds the id of a snapshot. So an episode can be forked from any state, and its forks do not meet. The calls of a response run one
 * after the other. A call that fails or takes too long has no effect on the world, and the policy reads why. A world that cannot be opened or
 * restored fails the episode. Metrics: `world/calls`, `world/errors`, `world/spent`.
 *
 * @throws OptionsError naming every problem at once.
 */
export function withWorld<Live extends OpenWorld, S extends State, Metadata, Outcome, Seen = Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  pool: WorldPool<Live, NoInfer<Metadata>>,
  tools: readonly WorldTool<Live, NoInfer<S>>[],
  options: WithWorldOptions<Live, Seen> = {},
): Environment<WithWorld<S, Seen>, Metadata, Seen> {
  requireArguments(
    'withWorld',
    { pool: 'object', tools: 'objects', options: 'object?' },
    pool,
    tools,
    options,
  );
  requireFields('withWorld', environmentMethods, environment);
  const { observe, ...others } = options;
  const settings = {
    ...parseOptions('withWorld', toolLayerSchema, others, 'WithWorldOptions'),
    ...{ owner: 'withWorld', key: 'world' as const, order: 'in-order' as const },
  };
  const placed = inPlace(environment, pool, observe);
  const layerOf = (lease?: WorldLease<Live>) =>
    new ToolLayer(
      placed,
      tools.map((each) => bound(each, lease)),
      settings,
    );
  const layer = layerOf();
  const whole = layer.environment();
  return {
    ...whole,
    pools: [...(environment.pools ?? []), pool],
    updateState: (state, response, context) => {
      if (!layer.answers(state, response)) return whole.updateState(state, response, context);
      const turn = async (lease: WorldLease<Live>) => {
        const next = await layerOf(lease).update(state, response, context);
        lease.requireWorld();
        if (next.place.id === state.place.id || observe === undefined) return next;
        return { ...next, place: { id: next.place.id, seen: await seenIn(lease, observe) } };
      };
      return pool.use(state.place.id, turn, context?.signal);
    },
  };
}

/** A tool of a world as a tool of the environment. Its state names the world that the call left behind. */
function bound<Live extends OpenWorld, S extends State, Seen>(
  { run, ...rest }: WorldTool<Live, S>,
  lease: WorldLease<Live> | undefined,
): Tool<Keyed<S, 'place', WorldPlace<Seen>>> {
  return {
    ...rest,
    run: async (args, context) => {
      if (lease === undefined)
        throw new EnvironmentError(
          'withWorld: a tool ran without its world; use the tools only in the environment that withWorld returned',
        );
      const result = await lease.act(
        (world) => run(args, { ...context, world } as unknown as WorldToolContext<Live, S>),
        context.signal,
      );
      const id = await lease.snapshot();
      context.update((now) => ({ ...now, place: { ...now.place, id } }));
      return result;
    },
  };
}

/** What `observe` reads in a world. Its error says that it is at fault, and not the environment. */
function seenIn<Live extends OpenWorld, Seen>(
  lease: WorldLease<Live>,
  observe: (world: Live) => Seen | Promise<Seen>,
): Promise<Seen> {
  return lease.read(async (world) => {
    try {
      return await observe(world);
    } catch (error) {
      throw new EnvironmentError(
        `withWorld: observe failed: ${messageOf(error)}; return a value for a world that the policy broke, too`,
        { cause: error },
      );
    }
  });
}

/** An environment that opens a world for each episode and keeps its snapshot in the state. */
function inPlace<Live extends OpenWorld, S extends State, Metadata, Outcome, Seen>(
  environment: Environment<S, Metadata, Outcome>,
  pool: WorldPool<Live, Metadata>,
  observe: ((world: Live) => Seen | Promise<Seen>) | undefined,
): Environment<Keyed<S, 'place', WorldPlace<Seen>>, Metadata, Seen> {
  type Outer = Keyed<S, 'place', WorldPlace<Seen>>;
  const inner = ({ place: _, ...state }: Outer) => state as unknown as S;
  const { outcome: said, stateKey, ...lifted } = lift(environment, inner);
  const seen = ({ place }: Outer) => place.seen as Seen;
  const outcome = observe === undefined ? (said as typeof seen | undefined) : seen;
  return {
    ...lifted,
    reset: async (task, seed, context) => {
      const state = await environment.reset(task, seed, context);
      const look = async (lease: WorldLease<Live>): Promise<WorldPlace<Seen>> => {
        const id = await lease.snapshot();
        return observe === undefined ? { id } : { id, seen: await seenIn(lease, observe) };
      };
      return opened('withWorld', state, 'place', await pool.begin(task, seed, look, context?.signal));
    },
    updateState: async (state, response, context) => {
      const next = await environment.updateState(inner(state), response, context);
      return { ...next, place: state.place } as Outer;
    },
    ...(outcome && { outcome }),
    ...(stateKey && { stateKey: (state: Outer) => keyWith(stateKey(state), state.place.id) }),
  };
}
