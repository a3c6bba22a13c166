import {
  type Action,
  type AgentPolicy,
  type Completion,
  type Environment,
  type Message,
  messageOf,
  type PolicyDecision,
  parseToolCalls,
  requireArguments,
  type SampleRequest,
  type Sampler,
  SamplerError,
  type State,
  type TokenId,
  type Tokenizer,
} from '@rlp/core';
import type { RolloutDependencies } from '../episode/group-context.ts';
import { type RolloutOptions, requireAgentDependencies } from '../options.ts';
import { RolloutManager } from '../rollout-manager.ts';

/** Dependencies of {@link agentRollouts}. A policy takes the place of sampler, tokenizer and chat format. */
export interface AgentRolloutDependencies<S extends State, Metadata, Outcome>
  extends Omit<RolloutDependencies<S, Metadata, Outcome>, 'sampler' | 'tokenizer' | 'chat'> {
  /** Decides what to do in each state. */
  readonly policy: AgentPolicy;
}

/**
 * A rollout manager for a policy that decides on actions instead of tokens, such as a remote model, a script or a person.
 *
 * The environment gets a tool call as `<tool_call>{"name": …, "arguments": …}</tool_call>`, which `withTools` of `@rlp/env` reads.
 * `terminate` ends the episode with that reason. Steps have the tokens and logprobs that the policy reports, but no prompt tokens. So they
 * can be scored, but not turned into training rows.
 *
 * @throws OptionsError naming every problem at once.
 */
export function agentRollouts<S extends State, Metadata, Outcome>(
  given: AgentRolloutDependencies<S, Metadata, Outcome>,
  options: RolloutOptions = {},
): RolloutManager<S, Metadata, Outcome> {
  requireArguments('agentRollouts', { options: 'object?' }, options);
  requireArguments('agentRollouts', { dependencies: 'object' }, given);
  requireAgentDependencies('agentRollouts', given);
  const { policy, environment, ...dependencies } = given;
  const views = new ViewTable();
  return new RolloutManager<S, Metadata, Outcome>(
    {
      ...dependencies,
      environment: withTerminate(environment),
      sampler: new AgentSampler(policy, views),
      tokenizer: views.tokenizer,
      chat: {
        render: (messages, { tools } = {}) => views.note(messages, tools),
        parseToolCalls: (text) => parseToolCalls(text),
      },
    },
    // A decision is made of the whole conversation.
    { ...options, history: 'template' },
  );
}

/** What a policy is shown. */
interface View {
  readonly observation: string | readonly Message[];
  readonly tools: readonly unknown[] | undefined;
}

/** Views by number. The numbers are the tokens of prompts. */
class ViewTable {
  readonly #views = new Map<TokenId, View>();
  #next = 0;

  /** Text prompts come as text, and conversations through `chat`. */
  readonly tokenizer: Tokenizer = {
    vocabularySize: Number.MAX_SAFE_INTEGER,
    bosId: undefined,
    eosIds: [],
    encode: (text) => this.note(text, undefined),
    // Different views are different texts, so that no prompt seems to continue another.
    decode: (places) => places.map((place) => `view ${place}`).join(),
  };

  note(observation: View['observation'], tools: View['tools']): TokenId[] {
    const place = this.#next++;
    this.#views.set(place, { observation, tools });
    return [place];
  }

  take([place]: readonly TokenId[]): View {
    const view = this.#views.get(place!)!;
    this.#views.delete(place!);
    return view;
  }
}

/** A sampler that asks the policy. */
class AgentSampler implements Sampler {
  readonly policyVersion = 0;
  readonly #policy: AgentPolicy;
  readonly #views: ViewTable;

  constructor(policy: AgentPolicy, views: ViewTable) {
    this.#policy = policy;
    this.#views = views;
  }

  async sample({ prompt, count, signal }: SampleRequest): Promise<readonly Completion[]> {
    const { observation, tools } = this.#views.take(prompt);
    const decide = () => this.#policy.getAction(observation, tools, { ...(signal && { signal }) });
    try {
      return await Promise.all(Array.from({ length: count }, async () => completionOf(await decide())));
    } catch (error) {
      signal?.throwIfAborted();
      throw new SamplerError(`policy.getAction: ${messageOf(error)}`, { cause: error });
    }
  }
}

function completionOf({ action, logprobs }: PolicyDecision): Completion {
  return {
    tokens: logprobs?.tokens ?? [],
    behaviorLogprobs: logprobs?.logprobs ?? [],
    text: textOf(action),
    stopReason: 'stop',
    policyVersion: 0,
  };
}

/** Ends an episode. No policy writes this text. */
const terminate = '\u0000terminate';

function textOf(action: Action): string {
  switch (action.type) {
    case 'text':
      return action.content;
    case 'terminate':
      return terminate;
    case 'tool_call': {
      const { name, arguments: written } = action;
      return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${written || '{}'}}\n</tool_call>`;
    }
    default:
      throw new TypeError(
        `expected an action of type text, tool_call or terminate, got ${JSON.stringify(action)}`,
      );
  }
}

/** A state, or one in which the policy ended the episode. */
type Ended<S extends State> = S & { readonly terminated?: true };

/** Methods that an environment may leave out, and that only read a state. */
const readers = ['tools', 'stateKey', 'transcript', 'outcome', 'metrics'] as const;

/** The same environment, over when the policy ends it. */
function withTerminate<S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
): Environment<S, Metadata, Outcome> {
  const isEnded = (state: Ended<S>) => state.terminated === true;
  const present = readers.filter((name) => environment[name] !== undefined);
  const { version, pools } = environment;
  return {
    ...Object.fromEntries(present.map((name) => [name, (state: S) => environment[name]!(state)])),
    ...(version !== undefined && { version }),
    ...(pools && { pools }),
    reset: (task, seed, context) => environment.reset(task, seed, context),
    buildPrompt: (state) => environment.buildPrompt(state),
    updateState: (state, response, context) =>
      response === terminate
        ? { ...state, response: '', stepCount: state.stepCount + 1, terminated: true }
        : environment.updateState(state, response, context),
    isTerminal: (state) => isEnded(state) || environment.isTerminal(state),
    termination: (state) =>
      isEnded(state)
        ? { reason: 'terminate' }
        : (environment.termination?.(state) ?? { reason: 'environment' }),
  };
}
