import type { Environment, Message, State, Task, Trajectory } from '@rlp/core';
import { parseToolCalls, stepDataFromTrajectory, trajectorySchema } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { RolloutManager, type RolloutOptions } from './index.ts';
import { mockEnvironment, mockPolicy, type RecordingSampler } from './testing.ts';

/** A shop that sells what is asked for by a tool, until its stock is sold or the policy says `done`. */
interface ShopState extends State {
  readonly messages: readonly Message[];
  readonly sold: number;
}

const shop: Environment<ShopState, undefined, { readonly sold: number }> = {
  reset: ({ prompt }) => ({
    prompt,
    response: '',
    stepCount: 0,
    sold: 0,
    messages: [{ role: 'user', content: String(prompt) }],
  }),
  buildPrompt: ({ messages }) => messages,
  updateState(state, response) {
    const { text, calls } = parseToolCalls(response);
    const answers = calls.map(({ id }): Message => ({ role: 'tool', tool_call_id: id, content: 'sold' }));
    const said: Message = {
      role: 'assistant',
      content: text,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const messages = [...state.messages, said, ...answers];
    const sold = state.sold + calls.length;
    return { ...state, response, stepCount: state.stepCount + 1, messages, sold };
  },
  isTerminal: ({ sold, response }) => sold >= 2 || response === 'done',
  outcome: ({ sold }) => ({ sold }),
  metrics: ({ sold }) => ({ 'shop/sold': sold }),
  termination: ({ sold }) =>
    sold >= 2 ? { reason: 'budget', detail: 'the stock is sold' } : { reason: 'terminate' },
};

const buy = '<tool_call>{"name": "buy"}</tool_call>';
const task = (fields: Partial<Task<undefined>> = {}): Task<undefined> => ({
  id: 'a',
  prompt: 'Hello',
  metadata: undefined,
  ...fields,
});

interface Setting<S extends State, Outcome> {
  readonly environment: Environment<S, undefined, Outcome>;
  readonly say?: readonly string[];
  readonly options?: RolloutOptions;
  readonly clock?: () => number;
  readonly sampler?: (sampler: RecordingSampler) => void;
  readonly signal?: AbortSignal;
  readonly task?: Task<undefined>;
}

/** The one episode in which the policy says `say`, turn by turn. */
async function play<S extends State, Outcome>({
  environment,
  say = ['ok'],
  options,
  clock,
  sampler,
  signal,
  task: played = task(),
}: Setting<S, Outcome>): Promise<Trajectory<undefined, Outcome>> {
  let turn = 0;
  const policy = mockPolicy({ speak: () => say[turn++] ?? 'ok', policyVersion: () => 3 + turn });
  sampler?.(policy.sampler);
  const manager = new RolloutManager({ environment, ...policy, clock }, { groupSize: 1, ...options });
  for await (const { trajectories } of manager.collectGroups([played], { signal })) return trajectories[0]!;
  throw new Error('nothing was collected');
}

describe('the conversation of a trajectory', () => {
  it("has the environment's last words and the policy's tool calls", async () => {
    const { messages, steps } = await play({ environment: shop, say: [buy, `And one more. ${buy}`] });
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: Hello',
      'assistant: ',
      'tool: sold',
      'assistant: And one more.',
      'tool: sold',
    ]);
    const names = steps.map(({ toolCalls }) => toolCalls?.map((call) => call.function.name));
    expect(names).toEqual([['buy'], ['buy']]);
    expect(messages[3]?.tool_calls).toEqual(steps[1]?.toolCalls);
  });

  it('has the last words of an episode that a limit cut', async () => {
    const { messages, termination } = await play({ environment: shop, say: [buy], options: { maxTurns: 1 } });
    expect(messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'call_0', content: 'sold' });
    expect(termination).toEqual({ reason: 'turns' });
  });

  it('finds tool calls by the chat format if the environment leaves them in the text', async () => {
    const plain: typeof shop = {
      ...shop,
      updateState: (state, response) => ({
        ...state,
        response,
        stepCount: state.stepCount + 1,
        messages: [...state.messages, { role: 'assistant', content: response }],
        sold: 2,
      }),
    };
    const { messages, steps, response } = await play({ environment: plain, say: [`Please. ${buy}`] });
    expect(messages.at(-1)).toMatchObject({
      content: 'Please.',
      tool_calls: [{ function: { name: 'buy' } }],
    });
    expect(steps[0]?.toolCalls).toEqual(messages.at(-1)?.tool_calls);
    expect([steps[0]?.text, response]).toEqual([`Please. ${buy}`, `Please. ${buy}`]);
  });

  it('is what `transcript` says, if there is one', async () => {
    const transcript: Message[] = [{ role: 'assistant', content: 'All of it.' }];
    const { messages } = await play({ environment: { ...shop, transcript: () => transcript } });
    expect(messages).toEqual(transcript);
  });

  it('does without a last view that does not continue it, or cannot be built', async () => {
    const said = [
      { role: 'user', content: 'Hello0' },
      { role: 'assistant', content: 'ok' },
    ];
    expect((await play({ environment: mockEnvironment() })).messages).toEqual(said);
    const world = mockEnvironment();
    const buildPrompt = (state: State) => {
      if (world.isTerminal(state)) throw new Error('it is over');
      return world.buildPrompt(state);
    };
    const { messages, status } = await play({ environment: { ...world, buildPrompt } });
    expect([messages, status]).toEqual([said, 'completed']);
  });
});

describe('steps', () => {
  it('say what was new, and which weights sampled them', async () => {
    const { steps, policyVersion } = await play({ environment: shop, say: [buy, 'done'] });
    expect(steps.map(({ observation }) => observation)).toEqual([
      [{ role: 'user', content: 'Hello' }],
      [{ role: 'tool', tool_call_id: 'call_0', content: 'sold' }],
    ]);
    expect(steps.map((step) => step.policyVersion)).toEqual([4, 5]);
    expect(policyVersion).toBe(3);
  });

  it('are timed by the clock that is given', async () => {
    let now = 0;
    const { steps } = await play({ environment: shop, say: [buy, 'done'], clock: () => (now += 10) });
    const timing = { sampleMs: 10, environmentMs: 10 };
    expect(steps.map((step) => step.timing)).toEqual([timing, timing]);
    const [untimed] = (await play({ environment: shop, say: ['done'] })).steps;
    expect(untimed).not.toHaveProperty('timing');
  });

  it('are actions of the step-level pipeline: calls, and the choice to end', async () => {
    const actions = stepDataFromTrajectory(await play({ environment: shop, say: [buy, 'done'] }));
    expect(actions.map(({ actionTaken }) => actionTaken)).toEqual([
      { type: 'tool_call', name: 'buy', arguments: '{}' },
      { type: 'terminate' },
    ]);
  });
});

describe('the end of an episode', () => {
  const endless: typeof shop = { ...shop, isTerminal: () => false };

  it.each([
    ['environment', { environment: mockEnvironment() }, { reason: 'environment' }],
    [
      'budget, as the environment says',
      { environment: shop, say: [buy + buy] },
      { reason: 'budget', detail: 'the stock is sold' },
    ],
    ['terminate, as the environment says', { environment: shop, say: ['done'] }, { reason: 'terminate' }],
    ['turns', { environment: endless, options: { maxTurns: 2 } }, { reason: 'turns' }],
    ['tokens of the context', { environment: endless, options: { contextLength: 24 } }, { reason: 'tokens' }],
    [
      'tokens of a turn',
      { environment: mockEnvironment(), options: { sampling: { maxTokens: 1 } } },
      { reason: 'tokens' },
    ],
    [
      'pattern',
      { environment: endless, say: ['ok', 'It is DONE.'], task: task({ terminationPattern: 'DONE' }) },
      { reason: 'pattern', detail: 'DONE' },
    ],
  ] as const)('is told: %s', async (_, setting, termination) => {
    const trajectory = await play(setting as Setting<ShopState, unknown>);
    expect(trajectory.termination).toEqual(termination);
    const isCut = termination.reason === 'turns' || termination.reason === 'tokens';
    expect(trajectory.status).toBe(isCut ? 'truncated' : 'completed');
  });

  it('has an outcome and metrics, typed as the environment has them', async () => {
    const { outcome, metrics } = await play({ environment: shop, say: [buy, 'done'] });
    expect([outcome?.sold, metrics]).toEqual([1, { 'shop/sold': 1 }]);
  });

  it('has neither, if the environment has none', async () => {
    const trajectory = await play({ environment: mockEnvironment() as typeof shop });
    for (const name of ['outcome', 'metrics']) expect(trajectory).not.toHaveProperty(name);
  });

  it('is an error for an environment whose outcome or metrics cannot be recorded', async () => {
    const broken = await play({
      environment: { ...shop, metrics: () => ({ cost: Number.NaN }) },
      say: ['done'],
    });
    expect(broken).toMatchObject({
      status: 'failed',
      termination: {
        reason: 'error',
        detail: 'environment.metrics: expected finite numbers, got NaN for "cost"',
      },
      failure: { boundary: 'environment' },
    });
    expect(broken).not.toHaveProperty('outcome');
  });
});

describe('an episode that was aborted', () => {
  it('is JSON, with the state that it can go on from', async () => {
    const stop = new AbortController();
    const trajectory = await play({
      environment: shop,
      say: [buy],
      signal: stop.signal,
      sampler(sampler) {
        const sample = sampler.sample.bind(sampler);
        sampler.sample = async (request) => {
          if (sampler.requests.length === 1) stop.abort(new Error('enough'));
          return sample(request);
        };
      },
    });
    expect(trajectory).toMatchObject({ status: 'aborted', termination: { reason: 'aborted' } });
    expect(trajectory.state).toMatchObject({ stepCount: 1, sold: 1, response: buy });
    const stored = JSON.parse(JSON.stringify(trajectory)) as unknown;
    const { metadata: _, ...played } = trajectory.task;
    expect(trajectorySchema.parse(stored)).toEqual({ ...trajectory, task: played });
    const resumed = await shop.updateState((stored as { state: ShopState }).state, buy);
    expect(shop.outcome?.(resumed)).toEqual({ sold: 2 });
  });
});
