import {
  type Action,
  type AgentPolicy,
  causeOf,
  type Environment,
  type EvaluateResult,
  type Message,
  promptMessages,
  rootCause,
  type State,
  type Task,
  type ToolSchema,
} from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { agentRollouts, RLRolloutWorker, type RolloutOptions } from '../index.ts';
import { mockEnvironment } from '../testing.ts';

interface Counting extends State {
  readonly said: readonly string[];
}

const tool: ToolSchema = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } };

/** Hears three responses. Each is shown to the policy again. Uses `this`, as classes do. */
class Listening implements Environment<Counting, { readonly answer: string }> {
  readonly #limit = 3;

  reset(task: Task, seed: number): Counting {
    return { prompt: `${task.prompt} (${seed})`, response: '', stepCount: 0, said: [] };
  }
  buildPrompt({ prompt, said }: Counting): readonly Message[] {
    return [
      ...promptMessages(prompt),
      ...said.flatMap((content): Message[] => [
        { role: 'assistant', content },
        { role: 'user', content: 'go on' },
      ]),
    ];
  }
  updateState(state: Counting, response: string): Counting {
    if (response === 'break') throw new Error('broken');
    return { ...state, response, stepCount: state.stepCount + 1, said: [...state.said, response] };
  }
  isTerminal({ said }: Counting) {
    return said.length >= this.#limit;
  }
  tools() {
    return [tool];
  }
}

const taskOf = (id: string): Task<{ readonly answer: string }> => {
  return { id, prompt: `do ${id}`, metadata: { answer: id } };
};

/** Tasks by these names, once. */
function tasksOf(...ids: readonly string[]) {
  let cursor = 0;
  return {
    get cursor() {
      return cursor;
    },
    take: (count: number) => {
      const taken = ids.slice(cursor, cursor + count);
      cursor += taken.length;
      return taken.map(taskOf);
    },
    seek: (to: number) => {
      cursor = to;
    },
  };
}

/** Decides what `decide` says, and remembers what it was shown. */
function policyOf(decide: (turn: number) => Action | Promise<Action>) {
  const shown: { readonly observation: unknown; readonly tools: unknown }[] = [];
  const policy: AgentPolicy = {
    getAction: async (observation, tools) => {
      shown.push({ observation, tools });
      const turn = (observation as readonly Message[]).filter(({ role }) => role === 'assistant').length;
      return { action: await decide(turn) };
    },
  };
  return { policy, shown };
}

const workerOf = (policy: AgentPolicy, options: RolloutOptions = { groupSize: 1 }, ...ids: string[]) =>
  new RLRolloutWorker({
    rollouts: agentRollouts({ environment: new Listening(), policy }, options),
    tasks: tasksOf(...(ids.length > 0 ? ids : ['a', 'b'])),
  });

const say = (content: string): Action => ({ type: 'text', content });
const call: Action = { type: 'tool_call', name: 'add', arguments: '{"a":1}' };

describe('RLRolloutWorker', () => {
  it('returns steps, the conversation and what to compare it with', async () => {
    const { policy, shown } = policyOf((turn) => (turn === 1 ? call : say(`turn ${turn}`)));
    const { steps, messages, groundTruth, trajectory } = await workerOf(policy).runEpisode();
    expect(steps.map(({ actionTaken }) => actionTaken)).toEqual([say('turn 0'), call, say('turn 2')]);
    expect(steps.map(({ isDone }) => isDone)).toEqual([false, false, true]);
    expect(messages.map(({ role }) => role).join()).toBe('user,assistant,user,assistant,user,assistant,user');
    expect(groundTruth).toEqual({ answer: 'a' });
    expect(trajectory).toMatchObject({ status: 'completed', termination: { reason: 'environment' } });
    expect(shown.map(({ observation }) => (observation as readonly Message[]).length)).toEqual([1, 3, 5]);
    expect(shown[0]!.tools).toEqual([tool]);
  });

  it('names everything that it lacks, and so do rollouts of an agent', () => {
    expect(() => new RLRolloutWorker({ environment: {} } as never)).toThrow(
      /rollouts: must be a RolloutManager[\s\S]*tasks: must be a task source[\s\S]*option "environment"/,
    );
    expect(() => agentRollouts({} as never)).toThrow(
      /environment: must be an environment[\s\S]*policy: must be a policy that decides on actions/,
    );
  });

  it('ends when the policy says so', async () => {
    const { policy } = policyOf((turn) => (turn === 1 ? { type: 'terminate' } : say('x')));
    const { steps, trajectory } = await workerOf(policy).runEpisode();
    expect(trajectory).toMatchObject({ status: 'completed', termination: { reason: 'terminate' } });
    expect(steps.map(({ actionTaken }) => actionTaken.type)).toEqual(['text', 'terminate']);
  });

  it('gives the members of a group to calls in a row, however they overlap', async () => {
    const { policy } = policyOf(() => say('x'));
    const worker = workerOf(policy, { groupSize: 2 });
    const episodes = await Promise.all(Array.from({ length: 4 }, () => worker.runEpisode()));
    const members = episodes.map(({ trajectory: { task, group } }) => `${task.id} ${group?.member}`);
    expect(members).toEqual(['a 0', 'a 1', 'b 0', 'b 1']);
    const begins = episodes.map(({ messages }) => messages[0]!.content);
    expect([begins[0] === begins[1], begins[1] === begins[2]]).toEqual([true, false]);
    await expect(worker.runEpisode()).rejects.toThrow('RLRolloutWorker: the task source has no task left');
  });

  it('tells what broke, and goes on with the next task', async () => {
    const { policy } = policyOf(async () => {
      throw new Error('the model is down');
    });
    const failed = await workerOf(policy).runEpisode();
    expect(failed.trajectory).toMatchObject({
      status: 'failed',
      failure: { boundary: 'sampler', message: 'policy.getAction: the model is down' },
    });
    const dropping = workerOf(policy, { groupSize: 1, onFailure: 'drop-member' });
    await expect(dropping.runEpisode()).rejects.toThrow('the failure policy dropped it');
    const broken = await workerOf(policyOf(() => say('break')).policy).runEpisode();
    expect(broken.trajectory.failure).toMatchObject({ boundary: 'environment' });
    const odd = await workerOf(policyOf(() => ({ type: 'wait' }) as never).policy).runEpisode();
    expect(odd.trajectory.failure?.message).toContain(
      'expected an action of type text, tool_call or terminate',
    );
  });

  it('keeps the version of its environment with an unfinished episode, and counts live worlds', async () => {
    const counts = { open: 1, idle: 2, waiting: 3, opened: 4, restored: 5, reused: 6, leaked: 7 };
    const pools = [{ getStatistics: () => counts }];
    for (const own of [{ version: '2', pools }, {}]) {
      const stop = new AbortController();
      const { policy } = policyOf(() => {
        stop.abort(new Error('enough'));
        return say('x');
      });
      const environment = Object.assign(new Listening(), own);
      const rollouts = agentRollouts({ environment, policy }, { groupSize: 1 });
      const worker = new RLRolloutWorker({ rollouts, tasks: tasksOf('a') });
      const { trajectory } = await worker.runEpisode({ signal: stop.signal });
      expect(trajectory.environmentVersion).toBe(own.version);
      expect(rollouts.getStatistics().worlds).toEqual(own.pools && counts);
    }
  });

  it('stops with its signal', async () => {
    const stop = new AbortController();
    const { policy } = policyOf((turn) => {
      if (turn === 1) stop.abort(new Error('enough'));
      return say('x');
    });
    const { trajectory } = await workerOf(policy).runEpisode({ signal: stop.signal });
    expect(trajectory.status).toBe('aborted');
    await expect(workerOf(policy).runEpisode({ signal: stop.signal })).rejects.toThrow('enough');
  });
});

it('a judgement of the conversation becomes rewards of steps', async () => {
  const { policy } = policyOf((turn) => say(`turn ${turn}`));
  const { messages, steps } = await workerOf(policy).runEpisode();
  const answers = messages.filter(({ role }) => role === 'assistant');
  const judged: EvaluateResult = {
    score: 1,
    isScoreValid: true,
    metrics: {},
    stepOutputs: answers.map((_, stepIndex) => ({ stepIndex, baseReward: stepIndex / 2, metrics: {} })),
  };
  expect(steps.map(({ stepInfo }) => stepInfo.assistantTurnIndex)).toEqual(
    judged.stepOutputs!.map(({ stepIndex }) => stepIndex),
  );
});

describe('a policy that decides on actions', () => {
  it('gets the signal of its request, and its error is the cause', async () => {
    const signals: unknown[] = [];
    const broken = new Error('down');
    const policy: AgentPolicy = {
      getAction: async (_, __, context) => {
        signals.push(context?.signal);
        throw broken;
      },
    };
    const { trajectory } = await workerOf(policy).runEpisode();
    expect(signals).toEqual([expect.any(AbortSignal)]);
    expect(trajectory.failure).toEqual({ boundary: 'sampler', message: 'policy.getAction: down' });
    expect(rootCause(causeOf(trajectory.failure!))).toBe(broken);
  });

  it('says calls as the tools of an environment read them, also without arguments', async () => {
    const { policy } = policyOf((turn) => (turn === 0 ? { ...call, arguments: '' } : say('x')));
    const { trajectory } = await workerOf(policy).runEpisode();
    expect(trajectory.steps[0]!.text).toBe('<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>');
    expect(trajectory.steps[0]!.toolCalls).toMatchObject([{ function: { name: 'add', arguments: '{}' } }]);
  });

  it('may report tokens and logprobs, which the steps then have', async () => {
    const logprobs = { tokens: [5, 6], logprobs: [-1, -2] };
    const policy: AgentPolicy = { getAction: async () => ({ action: say('x'), logprobs }) };
    const { trajectory } = await workerOf(policy).runEpisode();
    expect(trajectory.steps[0]).toMatchObject({
      tokens: [5, 6],
      behaviorLogprobs: [-1, -2],
      stopReason: 'stop',
    });
    const { policy: silent } = policyOf(() => say('x'));
    expect((await workerOf(silent).runEpisode()).trajectory.steps[0]).toMatchObject({
      tokens: [],
      behaviorLogprobs: [],
    });
  });

  it('is shown text of an environment that builds text', async () => {
    const shown: unknown[] = [];
    const policy: AgentPolicy = {
      getAction: async (observation, tools) => {
        shown.push([observation, tools]);
        return { action: say(`turn ${shown.length}`) };
      },
    };
    const environment = mockEnvironment({ turns: 2 });
    const rollouts = agentRollouts({ environment, policy }, { groupSize: 1 });
    const { trajectory } = await new RLRolloutWorker({ rollouts, tasks: tasksOf('a') }).runEpisode();
    expect(shown).toEqual([
      ['do a0', undefined],
      ['do a1', undefined],
    ]);
    expect(trajectory.status).toBe('completed');
  });

  it('leaves an environment its ending, its outcome and its metrics', async () => {
    const own = Object.assign(new Listening(), {
      termination: () => ({ reason: 'budget' }),
      outcome: ({ said }: Counting) => said.length,
      metrics: () => ({ heard: 3 }),
      stateKey: ({ said }: Counting) => `${said.length}`,
      transcript: () => [{ role: 'user', content: 'all' }],
    }) as never;
    const rollouts = agentRollouts(
      { environment: own, policy: policyOf(() => say('x')).policy },
      { groupSize: 1 },
    );
    const { trajectory } = await new RLRolloutWorker({ rollouts, tasks: tasksOf('a') }).runEpisode();
    expect(trajectory).toMatchObject({
      ...{ termination: { reason: 'budget' }, outcome: 3, metrics: { heard: 3 } },
      messages: [{ role: 'user', content: 'all' }],
    });
    expect(trajectory.steps.map(({ stateKey }) => stateKey)).toEqual(['0', '1', '2']);
  });
});

it('a group that failed leaves the next call to a new one', async () => {
  let calls = 0;
  const { policy } = policyOf(() => {
    calls += 1;
    if (calls <= 2) throw new Error('down');
    return say('x');
  });
  const worker = workerOf(policy, { groupSize: 2, onFailure: 'stop' }, 'a', 'b');
  await expect(worker.runEpisode()).rejects.toThrow('down');
  const { trajectory } = await worker.runEpisode();
  expect(trajectory).toMatchObject({ task: { id: 'b' }, group: { member: 0 }, status: 'completed' });
});
