import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { trajectoryGroupSchema } from '@rlp/core';
import { characterTokenizer, createModel, loadModel, parseModelConfig } from '@rlp/models';
import type { AgentConnection } from '@rlp/serve/capture';
import { metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import type { RunAgentOptions } from '../config/agent-schema.ts';
import { defineRun } from '../config/check-run.ts';
import { type RunResult, trainRun } from './train-run.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-agent-'));
});
afterAll(() => rm(directory, { recursive: true }));

const chatTemplate = '{% for message in messages %}{{ message.content }} {% endfor %}';
const tokenizer = characterTokenizer('abcdefgh .', { begin: '<s>', end: '</s>' }, { chatTemplate });
const config = parseModelConfig({
  model_type: 'llama',
  vocab_size: tokenizer.vocabularySize,
  ...{ hidden_size: 16, intermediate_size: 24, num_hidden_layers: 1, max_position_embeddings: 48 },
  ...{ num_attention_heads: 2, num_key_value_heads: 1, head_dim: 16, tie_word_embeddings: true },
  ...{ rms_norm_eps: 1e-5, rope_theta: 10_000, hidden_act: 'silu', initializer_range: 0.4 },
});
const model = createModel({ config, tokenizer, seed: 'agent' });
const data = Array.from({ length: 8 }, (_, row) => ({
  id: `${row}`,
  prompt: 'abcdefgh'.slice(row % 4, (row % 4) + 3),
  metadata: { wanted: 'abcdefgh'[row]! },
}));

type Wanted = (typeof data)[number]['metadata'];
type Said = { role: string; content: string };

async function ask({ baseURL, apiKey, fetch, model, signal }: AgentConnection, messages: readonly Said[]) {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
    signal,
  });
  const { choices } = (await response.json()) as { choices: { message: Said }[] };
  return choices[0]!.message;
}

/** Asks twice. Its result is what was said. */
async function twice(prompt: unknown, connection: AgentConnection): Promise<readonly string[]> {
  const question = { role: 'user', content: String(prompt) };
  const first = await ask(connection, [question]);
  const second = await ask(connection, [question, first, { role: 'user', content: 'a' }]);
  return [first.content, second.content];
}

const asked: RunAgentOptions<Wanted, readonly string[]> = {
  run: ({ prompt }, connection) => twice(prompt, connection),
  transport: 'fetch',
};

const run = (output: string) =>
  defineRun({
    ...{ model, data, output: join(directory, output) },
    agent: asked,
    rewards: { named: ({ outcome, task }) => (outcome?.join('').includes(task.metadata.wanted) ? 1 : 0) },
    algorithm: {
      ...{ iterations: 3, tasksPerIteration: 2 },
      rollout: { groupSize: 4, sampling: { maxTokens: 4 } },
      backend: { learningRate: 1e-2 },
    },
    evaluation: { heldOut: 2, every: 2 },
    checkpoints: { every: 1 },
    trajectories: { every: 1 },
    engine: { thread: 'inline', threads: 1 },
  });

function recorded(onWrite: (text: string) => void = () => {}) {
  return new Writable({
    write(chunk, _, done) {
      onWrite(String(chunk));
      done();
    },
  });
}

const weightsOf = async ({ model: folder }: RunResult) =>
  [...(await loadModel(folder!)).weights.values()].flatMap(({ data: values }) => [...values]);

/** Tokens of the last iteration. */
const sampled = async ({ files }: RunResult) =>
  (await readFile(join(files.trajectories, '00000002.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).trajectory.steps.map(({ tokens }: { tokens: number[] }) => tokens));

describe('a run of an agent', () => {
  it('is refused without a chat template before anything is evaluated', async () => {
    const output = 'no-template';
    const plain = characterTokenizer('abcdefgh .', { begin: '<s>', end: '</s>' });
    const untaught = createModel({ config, tokenizer: plain, seed: 'agent' });
    let said = '';
    const stream = recorded((text) => {
      said += text;
    });
    await expect(trainRun({ ...run(output), model: untaught }, { stream })).rejects.toThrow(
      /agent: the model has no chat template, .*; use a model that can chat/,
    );
    expect([said, existsSync(join(directory, output))]).toEqual(['', false]);
  });

  it('trains and measures the agent, and a stopped run ends where an uninterrupted one does', async () => {
    const whole = await trainRun(run('whole'), { stream: recorded() });
    expect(whole).toMatchObject({ status: 'finished', mode: 'rl' });
    expect(whole.evaluation).toMatchObject({ samples: 1, unscored: { count: 0 } });
    expect(whole.evaluation!.policyVersion).toBeGreaterThanOrEqual(3);
    const rows = metricRowsFromJsonl(await readFile(whole.files.metrics, 'utf8'));
    expect(rows.map(({ step }) => step)).toEqual([0, 1, 2]);
    const group = await readFile(join(whole.files.trajectories, '00000000.jsonl'), 'utf8');
    const [first] = group
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { trajectory } = first;
    expect(trajectory.outcome).toHaveLength(2);
    expect(trajectory.steps).toHaveLength(2);
    trajectoryGroupSchema.parse({ id: '0', task: trajectory.task, trajectories: [trajectory] });

    const controller = new AbortController();
    const stream = recorded((text) => {
      if (/RL 1\/3/.test(text)) controller.abort();
    });
    const stopped = await trainRun(run('stopped'), { stream, signal: controller.signal });
    expect(stopped.status).toBe('stopped');
    const resumed = await trainRun(run('stopped'), { stream: recorded() });
    expect(resumed.status).toBe('finished');
    expect(await sampled(resumed)).toEqual(await sampled(whole));
    // What is sampled together depends on when the agent asks, so rounding may differ.
    const [expected, found] = [await weightsOf(whole), await weightsOf(resumed)];
    expect(found).toHaveLength(expected.length);
    for (const [index, value] of expected.entries()) expect(found[index]).toBeCloseTo(value, 4);
  });

  it('knows the states of its steps for GiGPO', async () => {
    const { agent, ...rest } = run('gigpo');
    const given = { ...rest, algorithm: { ...rest.algorithm, name: 'gigpo' as const } };
    await expect(trainRun({ ...given, agent })).rejects.toThrow('agent.stateKey: is missing');
    const named = { ...given, agent: { ...asked, stateKey: ({ text }: { text: string }) => text } };
    const result = await trainRun(named, { stream: recorded(), existing: 'new' });
    expect(result.status).toBe('finished');
  });

  it('only measures, if it is asked to', async () => {
    const { algorithm, checkpoints, ...rest } = run('measured');
    const result = await trainRun({ ...rest, mode: 'eval' }, { stream: recorded() });
    expect(result.evaluation?.tasks).toHaveLength(2);
    expect(result.evaluation?.accuracy).toBeTypeOf('number');
  });

  it('says why, if no episode of the agent has an answer', async () => {
    const agent = async () => {
      throw new Error('the database is down');
    };
    const { evaluation: _, ...rest } = run('broken');
    await expect(trainRun({ ...rest, evaluation: 'none', agent }, { stream: recorded() })).rejects.toThrow(
      'the database is down',
    );
  });

  it('reads no options of environments', () => {
    const rollout = { groupSize: 2, environmentTimeoutMs: 10, onFailure: 'stop' };
    const wrong = { model: 'm', data: 'd', agent: () => '', environment: 'chat', algorithm: { rollout } };
    expect(() => defineRun(wrong as never)).toThrow(
      /environment: must not be given together with agent.*environmentTimeoutMs: belongs to environments.*onFailure: belongs/s,
    );
    const deaf = { model: 'm', data: 'd', agent: () => '', distill: { teacher: 't' } };
    expect(() => defineRun(deaf as never)).toThrow("agent: mode 'distill' does not run it");
    expect(() => defineRun({ model: 'm', data: 'd', agent: 7 } as never)).toThrow('agent: ');
  });

  it('infers what rewards read from the tasks and the agent', () => {
    defineRun({
      ...{ model: 'm', data },
      agent: async ({ metadata }) => {
        expectTypeOf(metadata).toEqualTypeOf<{ wanted: string }>();
        return { score: 1 };
      },
      rewards: ({ outcome }) => {
        expectTypeOf(outcome).toEqualTypeOf<{ score: number } | undefined>();
        return outcome?.score ?? 0;
      },
    });
    defineRun({
      ...{ model: 'm', data: 'questions.jsonl' },
      rewards: { right: ({ task, response }) => Number(response === task.metadata.answer) },
    });
  });
});
