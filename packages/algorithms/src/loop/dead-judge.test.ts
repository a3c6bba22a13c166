import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TextGenerator } from '@rlp/core';
import { rewardFunctions } from '@rlp/rewards';
import { chatCompletionsGenerator, pairwiseJudge, pointwiseJudge, rankingJudge } from '@rlp/rewards/judge';
import { expect, it, onTestFinished } from 'vitest';
import { banditSetup } from './bandit.fixture.ts';
import { runRlTraining } from './rl.ts';
import { RunStoppedError } from './run-stopped.ts';

type Health = 'answers' | 'refuses' | 'hangs' | 'gives 500';

/** A server of chat completions on loopback, and what becomes of it. */
async function judgeServer() {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (world.health === 'hangs') return;
    if (world.health === 'gives 500') return void response.writeHead(500).end('{}');
    response.end(JSON.stringify({ choices: [{ message: { content: verdictOf(text) } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const world = {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    health: 'answers' as Health,
    async become(health: Health) {
      world.health = health;
      if (health === 'refuses') close();
      if (health === 'answers' && !server.listening)
        await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    },
  };
  return world;
}

/** Of two texts the first is better; of one, a longer is. */
function verdictOf(body: string): string {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  const text = messages.at(-1)!.content;
  const key = /\[BEGIN task ([0-9a-f]{16})\]/.exec(text)![1]!;
  const lines = [...text.matchAll(new RegExp(`^${key} (\\w+): `, 'gm'))].map(([, label]) => label!);
  const shown = /\[BEGIN response [^\]]*\]\n([^[]*)\n?\[END/.exec(text)![1]!.trim().length % 2;
  const says = (label: string, at: number) =>
    label === 'winner' ? 'A' : label === 'score' ? 1 + 9 * shown : (at + shown) % 2;
  return lines.map((label, at) => `${key} ${label}: ${says(label, at)}`).join('\n');
}

type Server = Awaited<ReturnType<typeof judgeServer>>;

const judges = {
  pointwise: (server: Server) => {
    const judge = pointwiseJudge({ generator: generatorOf(server), rubric: 'Is it odd?' });
    return rewardFunctions({ oddness: judge.reward });
  },
  ranking: (server: Server) => rankingJudge({ generator: generatorOf(server) }),
  pairwise: (server: Server) => pairwiseJudge({ generator: generatorOf(server), opponents: 1 }),
};

/** Waits long for a server that answers, and briefly for one that hangs. */
function generatorOf(server: Server): TextGenerator {
  const at = { url: server.url, model: 'judge', attempts: 1, backoff: { firstMs: 1, longestMs: 2 } };
  const [patient, brief] = [10_000, 50].map((timeoutMs) => chatCompletionsGenerator({ ...at, timeoutMs }));
  return (...request) => (server.health === 'hangs' ? brief! : patient!)(...request);
}

async function trainUnder(name: keyof typeof judges, server: Server) {
  const setup = banditSetup(`dead judge ${name}`);
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);
  const dependencies = { ...setup, sleep, rewards: judges[name](server) };
  const options = { iterations: 5, tasksPerIteration: 1, failureBudget: { retries: 2, backOffMs: 10 } };
  return { tasks: setup.tasks, slept, dependencies, options };
}

it.each([
  ['pointwise', 'refuses', /reward "oddness": pointwiseJudge: http:\S+: .*ECONNREFUSED/],
  ['pointwise', 'gives 500', /reward "oddness": pointwiseJudge: http:\S+: expected status 200, got 500/],
  ['pointwise', 'hangs', /reward "oddness": pointwiseJudge: http:\S+: no answer within 50 ms/],
  ['ranking', 'refuses', /got a reward: rankingJudge: http:\S+: .*ECONNREFUSED/],
  ['ranking', 'hangs', /got a reward: rankingJudge: http:\S+: no answer within 50 ms/],
  ['pairwise', 'gives 500', /got a reward: pairwiseJudge: http:\S+: expected status 200, got 500/],
] as const)(
  'a judge (%s) whose server %s gives the tasks back and stops the run',
  async (name, health, sentence) => {
    const server = await judgeServer();
    const { tasks, slept, dependencies, options } = await trainUnder(name, server);
    const reports: number[] = [];
    const run = async (resume?: { iteration: number; taskCursor: number }) => {
      for await (const { iteration } of runRlTraining(dependencies, { ...options, resume })) {
        reports.push(iteration);
        if (iteration === 1) await server.become(health);
      }
    };
    const error = (await run().catch((reason: unknown) => reason)) as RunStoppedError;
    expect(error).toBeInstanceOf(RunStoppedError);
    expect(error.message).toMatch(sentence);
    expect(error.message).toMatch(/^runRlTraining: iteration 3: none of \d finished episodes/);
    expect([error.reason, error.state.iteration, tasks.cursor, slept]).toEqual([
      'rewards-failed',
      2,
      2,
      [10, 20],
    ]);
    await server.become('answers');
    await run(error.state);
    expect(reports).toEqual([0, 1, 2, 3, 4]);
  },
);
