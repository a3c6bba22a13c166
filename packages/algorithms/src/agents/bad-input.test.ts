import {
  type Environment,
  type Message,
  type OpenWorld,
  type State,
  stepDataFromTrajectory,
  type Task,
  type TextGenerator,
  type Trajectory,
} from '@rlp/core';
import {
  ConversationEnvironment,
  createWorldPool,
  type ToolContext,
  tool,
  type WorldToolContext,
  withRetries,
  withTermination,
  withTools,
  withUser,
  withWorld,
  worldTool,
} from '@rlp/env';
import { RolloutManager } from '@rlp/rollout';
import { mockPolicy } from '@rlp/rollout/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { groupMetrics } from '../loop/metrics.ts';

const task: Task<undefined> = { id: 't', prompt: 'Go.', metadata: undefined };
const call = (name: string, args: unknown = {}) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;

/** Runs four members. The first does what is wrong; its siblings answer at once. */
async function rollOut<S extends State>(
  environment: Environment<S, undefined>,
  wrong: string,
  { environmentTimeoutMs = 500 } = {},
): Promise<readonly Trajectory[]> {
  let sampled = 0;
  const speak = (prompt: string) => {
    sampled += Number(prompt.endsWith('Go.assistant:'));
    return sampled === 1 && prompt.endsWith('Go.assistant:') ? wrong : 'Done.';
  };
  const manager = new RolloutManager(
    { environment, ...mockPolicy({ speak }) },
    { groupSize: 4, maxTurns: 3, sampling: { maxTokens: 5000 }, environmentTimeoutMs },
  );
  for await (const { trajectories } of manager.collectGroups([task])) return trajectories;
  throw new Error('no group came');
}

const dialogue = () => new ConversationEnvironment<undefined>();
const toolOf = (execute: (args: { n?: number | undefined }, context: ToolContext) => unknown) =>
  tool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({ n: z.number().optional() }),
    timeoutMs: 50,
    execute,
  });
const answersOf = ({ messages }: Trajectory) =>
  messages.flatMap(({ role, content }: Message) => (role === 'tool' ? [content] : []));

describe('what a tool does wrong is told to the policy, and siblings live on', () => {
  it.each<[string, string, Parameters<typeof toolOf>[0], RegExp]>([
    [
      'throws',
      call('work'),
      () => {
        throw new Error('broken');
      },
      /^Error: broken$/,
    ],
    [
      'throws no error',
      call('work'),
      () => {
        throw null;
      },
      /^Error/,
    ],
    ['hangs', call('work'), () => new Promise(() => undefined), /^Error: took longer than 50 ms$/],
    ['returns 10 MB', call('work'), () => 'x'.repeat(10_000_000), /^x{20000}… \(9980000 more characters\)$/],
    [
      'returns a cycle',
      call('work'),
      () => {
        const a: Record<string, unknown> = {};
        a.a = a;
        return a;
      },
      /^Error: .*circular/i,
    ],
    ['returns a function', call('work'), () => () => 1, /^Error: the tool returned a function/],
    ['returns a bigint', call('work'), () => 1n, /^Error/],
    ['has wrong arguments', call('work', { n: 'x' }), () => 1, /^Error: wrong arguments: n/],
    ['does not exist', call('none'), () => 1, /^Error: there is no such tool. Tools: work\.$/],
  ])('a tool that %s', async (_, wrong, execute, answer) => {
    const trajectories = await rollOut(withTools(dialogue(), [toolOf(execute)]), wrong);
    expect(trajectories.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
    expect(answersOf(trajectories[0]!)[0]).toMatch(answer);
    expect(trajectories[0]!.metrics!['tools/errors']).toBe(Number(!/^\^x/.test(answer.source)));
  });

  it('two calls where one is allowed', async () => {
    const environment = withTools(dialogue(), [toolOf(() => 'ok')], { maxCallsPerTurn: 1 });
    const [first] = await rollOut(environment, call('work') + call('work'));
    expect(answersOf(first!)).toEqual(['ok', 'Error: at most 1 call in one response.']);
  });
});

describe('a tool that fails', () => {
  const works = tool({
    name: 'works',
    description: 'Works.',
    parameters: z.object({ n: z.int() }),
    execute: ({ n }) => n,
  });
  const breaks = toolOf(() => {
    throw new TypeError('db is undefined');
  });
  const notes = async (calls: string, prompt: Task['prompt'] = task.prompt) => {
    const trajectories = await rollOut(withTools(dialogue(), [breaks, works]), calls);
    const scored = trajectories.map((trajectory) => ({
      trajectory: { ...trajectory, task: { ...task, prompt } },
      reward: 1,
      components: {},
    }));
    return groupMetrics([{ group: { id: 'g', task, trajectories }, scored }]).notes;
  };

  it('in all of its calls is a note with the first reason', async () => {
    const calls = call('work').repeat(4) + call('works', { n: 1 }) + call('works').repeat(3);
    expect(await notes(calls)).toEqual(['tool "work": all 4 calls failed, the first: db is undefined']);
  });

  it('in fewer calls than say anything is none, nor is one of the prompt', async () => {
    expect(await notes(call('work').repeat(3))).toEqual([]);
    const recorded = Array.from({ length: 6 }, (): Message => ({ role: 'user', content: 'Hi.' }));
    expect(await notes(call('work').repeat(4), recorded)).toEqual([]);
  });
});

/** The failure of the first member, whose siblings completed. */
async function failureOf<S extends State>(environment: Environment<S, undefined>, wrong: string) {
  const [first, ...siblings] = await rollOut(environment, wrong);
  expect(siblings.map(({ status }) => status)).toEqual(Array(3).fill('completed'));
  expect([first!.status, first!.termination?.reason, first!.failure?.boundary]).toEqual([
    'failed',
    'error',
    'environment',
  ]);
  return first!.failure!.message;
}

describe('what fails an episode is in its record, and siblings live on', () => {
  it('a state that cannot be copied', async () => {
    const work = toolOf((_, { update }) => update((state) => ({ ...state, f: () => 1 })));
    expect(await failureOf(withTools(dialogue(), [work]), call('work'))).toContain(
      'tool "work" made a state that cannot be copied',
    );
  });

  it('a tool that must not fail', async () => {
    const work = toolOf(() => {
      throw new Error('broken');
    });
    expect(await failureOf(withTools(dialogue(), [work], { onError: 'fail' }), call('work'))).toContain(
      'tool "work": Error: broken',
    );
  });

  it.each<[string, TextGenerator, string]>([
    [
      'throws',
      async () => {
        throw new Error('no credit');
      },
      'the simulated user failed (after 0 answers, asked 2 times): no credit',
    ],
    ['says nothing', async () => '', 'expected text, got ""'],
    ['hangs', () => new Promise(() => undefined), 'took longer than 40 ms'],
    [
      'throws before it promises',
      () => {
        throw new Error('no model');
      },
      'no model',
    ],
    ['is not text', (async () => ({ text: 'x' })) as never, 'expected text, got {"text":"x"}'],
  ])('a simulated user that %s', async (_, wrong, message) => {
    const user: TextGenerator = (messages, options) =>
      messages.at(-1)!.content === 'wrong' ? wrong(messages, options) : Promise.resolve('###STOP###');
    const environment = withUser(dialogue(), user, {
      instructions: () => 'You are in a hurry.',
      timeoutMs: 40,
    });
    expect(await failureOf(environment, 'wrong')).toContain(message);
  });

  it('a world that dies and cannot be restored', async () => {
    let lives = 0;
    const open = async () => {
      lives += 1;
      let isDead = false;
      const live: OpenWorld & { die(): void } = {
        die: () => {
          isDead = true;
        },
        snapshot: async () => {
          if (isDead) throw new Error('the socket is gone');
          return 'x';
        },
        close: async () => undefined,
      };
      return live;
    };
    const pool = createWorldPool({
      open,
      restore: async () => {
        throw new Error('no server');
      },
    });
    const die = worldTool({
      name: 'die',
      description: 'Ends the world.',
      parameters: z.object({}),
      execute: (_, { world }: WorldToolContext<Awaited<ReturnType<typeof open>>>) => world.die(),
    });
    const environment = withWorld(dialogue(), pool, [die]);
    const [first] = await rollOut(environment, call('die'));
    expect(answersOf(first!)).toEqual(['Error: the socket is gone']); // nothing more was asked of it
    const message = await failureOf(environment, call('die') + call('die'));
    expect(message).toContain('environment.updateState: cannot restore the world: no server');
    expect([lives, pool.getStatistics().open]).toEqual([2, 0]);
  });

  it('a service that stays away, after its attempts', async () => {
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    const work = toolOf(() => {
      throw away;
    });
    const environment = withRetries(withTools(dialogue(), [work], { onError: 'fail' }), {
      sleep: async () => undefined,
    });
    expect(await failureOf(environment, call('work'))).toContain(
      'withRetries: attempt 3 of 3: tool "work": Error: away',
    );
  });
});

it('a call that ends the episode is its termination, and the action of its step', async () => {
  const [first] = await rollOut(
    withTermination(dialogue(), { tool: 'finish' }),
    call('finish', { answer: '4' }),
  );
  expect(first).toMatchObject({
    status: 'completed',
    termination: { reason: 'terminate', detail: '{"answer":"4"}' },
    steps: [{ toolCalls: [{ function: { name: 'finish' } }] }],
  });
  expect(stepDataFromTrajectory(first!).map(({ actionTaken }) => actionTaken)).toEqual([
    { type: 'terminate' },
  ]);
});

it('a limit of tokens counts what was sampled', async () => {
  const environment = withTermination(withTools(dialogue(), [toolOf(() => 'ok')]), { maxTokens: 10 });
  const [first, second] = await rollOut(environment, call('work'));
  expect(first!.termination).toEqual({ reason: 'tokens', detail: `${call('work').length + 1} of 10 tokens` });
  expect(second!.termination?.reason).toBe('environment');
});
