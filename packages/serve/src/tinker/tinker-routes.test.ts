import { createTinkerBackend } from '@rlp/backprop/tinker';
import type { TrainingBackend } from '@rlp/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { ServeTinkerOptions } from '../tinker.ts';
import { nll, openFixture, token, tokenizer, vocabularySize } from './tinker.fixture.ts';

const fixture = await openFixture('routes');
const { serve, folder } = fixture;
afterAll(() => fixture.close());

const create = (url: string) =>
  createTinkerBackend({
    ...{ url, apiKey: token, vocabularySize, contextLength: 32, rank: 4, seed: 7 },
    ...{ learningRate: 1e-2, reduction: 'sum' },
  });

/** Asks a server as a client would. */
function clientOf({ url }: { readonly url: string }) {
  const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': token, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  };
  const result = async (answer: { readonly body: Record<string, string> }) => {
    const asked = await send('/retrieve_future', { request_id: answer.body.request_id });
    return { ...asked, id: answer.body.request_id };
  };
  return { send, result };
}

const datum = (tokens: readonly number[], inputs: Record<string, readonly number[]> = {}) => ({
  model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
  loss_fn_inputs: Object.fromEntries(
    Object.entries({ target_tokens: tokens.slice(1), ...inputs }).map(([name, data]) => [
      name,
      { data, dtype: name === 'target_tokens' ? 'int64' : 'float32' },
    ]),
  ),
});

async function opened(options: Partial<ServeTinkerOptions> = {}) {
  const own = await serve(options);
  const { send, result } = clientOf(own);
  const session = (await send('/create_session', { tags: [], sdk_version: '0.6.0' })).body.session_id;
  const created = await send('/create_model', {
    ...{ session_id: session, base_model: 'tiny', lora_config: { rank: 2, seed: 1 } },
  });
  await result(created);
  return { own, send, result, session, model_id: created.body.model_id };
}

describe('the Tinker routes', () => {
  it('have the losses of the protocol: values and gradients as by hand', async () => {
    const { own, send, result, model_id } = await opened();
    const tokens = [3, 4, 5];
    const pass = async (loss_fn: string, inputs: Record<string, readonly number[]>, config?: object) => {
      const input = { data: [datum(tokens, inputs)], loss_fn, loss_fn_config: config };
      const { body } = await result(
        await send('/forward_backward', { model_id, forward_backward_input: input }),
      );
      const { loss_fn_outputs, metrics } = body as unknown as {
        readonly loss_fn_outputs: readonly [{ readonly logprobs: { readonly data: readonly number[] } }];
        readonly metrics: Readonly<Record<string, number>>;
      };
      return { loss: metrics['loss:sum']!, logprobs: loss_fn_outputs[0].logprobs.data };
    };
    const { loss, logprobs } = await pass('cross_entropy', { weights: [0.5, -2] });
    expect(loss).toBeCloseTo(-0.5 * logprobs[0]! + 2 * logprobs[1]!, 5);
    const advantages = [1, -3];
    const behavior = [logprobs[0]! - Math.log(1.5), logprobs[1]! + Math.log(2)];
    const off = { logprobs: behavior, advantages };
    expect((await pass('importance_sampling', off)).loss).toBeCloseTo(-(1.5 * 1 + 0.5 * -3), 4);
    expect((await pass('ppo', off)).loss).toBeCloseTo(-(1.2 * 1 + 0.8 * -3), 4);
    const wide = { clip_low_threshold: 0.1, clip_high_threshold: 9 };
    expect((await pass('ppo', off, wide)).loss).toBeCloseTo(-(1.5 * 1 + 0.5 * -3), 4);
    expect((await pass('cispo', off)).loss).toBeCloseTo(-(1.5 * logprobs[0]! - 1.5 * logprobs[1]!), 4);
    const squares = Math.log(1.5) ** 2 + Math.log(2) ** 2;
    const linear = logprobs[0]! - 3 * logprobs[1]!;
    expect((await pass('dro', off, { beta: 0.1 })).loss).toBeCloseTo(-(linear - 0.05 * squares), 4);
    await own.close();
  });

  it('do a call that comes twice once, and refuse another of the same number', async () => {
    const { own, send, result, model_id } = await opened();
    const input = { data: [datum([3, 4, 5], { weights: [1, 1] })], loss_fn: 'cross_entropy' };
    const passes = await Promise.all(
      [0, 1].map(() => send('/forward_backward', { model_id, seq_id: 1, forward_backward_input: input })),
    );
    expect(passes[0]!.body.request_id).toBe(passes[1]!.body.request_id);
    const step = { model_id, adam_params: { learning_rate: 0 } };
    const norm = async (seq_id: number) => {
      const { body } = await result(await send('/optim_step', { ...step, seq_id }));
      return (body as unknown as { metrics: { grad_norm: number } }).metrics.grad_norm;
    };
    const once = await norm(2);
    await send('/forward_backward', { model_id, seq_id: 3, forward_backward_input: input });
    expect(await norm(4)).toBeCloseTo(once, 6);
    const other = await send('/optim_step', { ...step, adam_params: {}, seq_id: 4 });
    expect(other).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/seq_id 4/) } });
    const key = { 'x-idempotency-key': 'one' };
    const unnumbered = { model_id, forward_backward_input: input };
    const [a, b] = [
      await send('/forward_backward', unnumbered, key),
      await send('/forward_backward', unnumbered, key),
    ];
    expect(a.body.request_id).toBe(b.body.request_id);
    await own.close();
  });

  it('ask clients to come back for results that take long, and say when results are gone', async () => {
    let now = 0;
    const { own, send, result, session, model_id } = await opened({
      waitMs: 1,
      resultMs: 100,
      clock: () => now,
    });
    const sample = { num_samples: 8, sampling_params: { max_tokens: 28, seed: 1 }, base_model: 'tiny' };
    const asked = { ...sample, prompt: { chunks: [{ type: 'encoded_text', tokens: [3] }] } };
    const first = await send('/asample', asked, { 'x-idempotency-key': 'sample' });
    let answer = await result(first);
    expect(answer).toMatchObject({ status: 408, body: { queue_state: 'active' } });
    while (answer.status === 408) answer = await result(first);
    expect(answer.body).toMatchObject({ type: 'sample' });
    const step = await send('/optim_step', { model_id, adam_params: {}, seq_id: 9 });
    while ((await result(step)).status === 408);
    now = 1000;
    await send('/get_info', { model_id });
    const again = await send('/asample', asked);
    expect((await result(first)).status).toBe(410);
    const repeated = await send('/asample', asked, { 'x-idempotency-key': 'sample' });
    expect(repeated.body.request_id).not.toBe(first.body.request_id);
    expect((await result(step)).body).toMatchObject({ error: expect.stringMatching(/was done/) });
    expect((await result({ body: { request_id: 'stranger' } })).status).toBe(404);
    for (const one of [again, repeated]) while ((await result(one)).status === 408);
    expect(await send('/session_heartbeat', { session_id: session })).toMatchObject({ status: 200 });
    await own.close();
  });

  it('keep checkpoints over a restart, with and without the optimizer', async () => {
    const directory = folder();
    const own = await serve({ directory });
    const backend = await create(own.url);
    const tokens = tokenizer.encode('abcdefgh');
    const row = {
      tokens,
      mask: tokens.map((_, t) => Math.min(1, t)),
      weights: tokens.map(() => 1),
      columns: {},
    };
    const train = async (one: TrainingBackend) => {
      await one.forwardBackward({ sequences: [row] }, nll);
      await one.optimStep();
    };
    await train(backend);
    const place = folder();
    await backend.saveCheckpoint(place);
    await train(backend);
    const [expected] = await backend.logprobs([tokens]);
    const { send, result } = clientOf(own);
    const runs = await fetch(`${own.url}/api/v1/training_runs/model-0/checkpoints`, {
      headers: { 'x-api-key': token },
    });
    const { checkpoints } = (await runs.json()) as { checkpoints: { tinker_path: string }[] };
    expect(checkpoints).toHaveLength(1);
    const info = await send('/weights_info', { tinker_path: checkpoints[0]!.tinker_path });
    expect(info.body).toEqual({
      ...{ base_model: 'tiny', is_lora: true, lora_rank: 4 },
      ...{ train_attn: true, train_mlp: true, train_unembed: false },
    });
    const load = { path: checkpoints[0]!.tinker_path, optimizer: false };
    const session = (await send('/create_session', {})).body.session_id;
    const other = await send('/create_model', {
      session_id: session,
      base_model: 'tiny',
      lora_config: { rank: 3 },
    });
    const loaded = await result(await send('/load_weights', { model_id: other.body.model_id, ...load }));
    expect(loaded.body).toMatchObject({ category: 'user', error: expect.stringMatching(/rank 4.*rank 3/) });
    await backend.close();
    await own.close();
    const next = await serve({ directory });
    const resumed = await create(next.url);
    await resumed.loadCheckpoint(place);
    await train(resumed);
    const [got] = await resumed.logprobs([tokens]);
    for (const [t, value] of expected!.logprobs.entries()) expect(got!.logprobs[t]).toBeCloseTo(value, 5);
    await resumed.close();
    await next.close();
  });

  it('create a model from a checkpoint, by the name that the client derives', async () => {
    const { own, send, result } = await opened();
    const done = async (answer: Awaited<ReturnType<typeof send>>) => {
      let found = await result(answer);
      while (found.status === 408) found = await result(answer);
      return found.body as Record<string, unknown>;
    };
    const session_id = (await send('/create_session', {})).body.session_id;
    const lora_config = { rank: 3, train_mlp: false };
    const made = await send('/create_model', { session_id, base_model: 'tiny', lora_config });
    await done(made);
    const saved = await done(await send('/save_weights', { model_id: made.body.model_id, path: 'first' }));
    const load = { session_id, model_seq_id: 7, path: saved.path, optimizer: true };
    expect(await done(await send('/load_weights', load))).toEqual({ type: 'load_weights' });
    const model_id = `${session_id}:train:7`;
    const info = await send('/get_info', { model_id });
    expect(info.body).toMatchObject({ lora_rank: 3 });
    const again = await done(await send('/save_weights', { model_id, path: 'second' }));
    const facts = await send('/weights_info', { tinker_path: again.path });
    expect(facts.body).toMatchObject({ lora_rank: 3, train_attn: true, train_mlp: false });
    expect(await send('/load_weights', load)).toMatchObject({ status: 409 });
    expect(await send('/load_weights', { path: saved.path })).toMatchObject({ status: 422 });
    const other = { ...load, model_seq_id: 8 };
    expect(await send('/load_weights', { ...other, base_model: 'another' })).toMatchObject({ status: 400 });
    const optimizer_config = { type: 'dimuon' };
    expect(await send('/load_weights', { ...other, optimizer_config })).toMatchObject({ status: 422 });
    await send('/unload_model', { model_id });
    expect(await send('/get_info', { model_id })).toMatchObject({ status: 404 });
    await own.close();
  });

  it('list the likeliest tokens of a prompt, and no others than the model gives', async () => {
    const { own, send, result } = await opened();
    const asked = async (extra: object) => {
      const prompt = { chunks: [{ type: 'encoded_text', tokens: [3, 4, 5] }] };
      const sample = { prompt, base_model: 'tiny', sampling_params: { max_tokens: 1, seed: 1 } };
      let answer = await result(await send('/asample', { ...sample, ...extra }));
      while (answer.status === 408) answer = await result({ body: { request_id: answer.id! } });
      return answer.body as unknown as {
        readonly prompt_logprobs?: readonly (number | null)[];
        readonly topk_prompt_logprobs?: readonly (readonly (readonly [number, number])[] | null)[];
      };
    };
    const body = await asked({ prompt_logprobs: true, topk_prompt_logprobs: vocabularySize });
    const [none, ...rows] = body.topk_prompt_logprobs!;
    expect(none).toBeNull();
    for (const [t, row] of rows.entries()) {
      expect(row!.map(([token]) => token).toSorted((a, b) => a - b)).toEqual([
        ...Array(vocabularySize).keys(),
      ]);
      expect(row!.reduce((sum, [, logprob]) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
      expect(row!.find(([token]) => token === 4 + t)![1]).toBeCloseTo(body.prompt_logprobs![t + 1]!, 5);
    }
    const best = (await asked({ topk_prompt_logprobs: 2 })).topk_prompt_logprobs!;
    expect(best.slice(1)).toEqual(rows.map((row) => row!.slice(0, 2)));
    await own.close();
  });

  it('train no more models than allowed if several are asked for at once', async () => {
    const { own, send, session } = await opened({ maxPolicies: 2 });
    const asked = { session_id: session, base_model: 'tiny', lora_config: { rank: 1 } };
    const created = await Promise.all([1, 2, 3].map(() => send('/create_model', asked)));
    expect(created.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    const odd = await fetch(`${own.url}/api/v1/%E0%A4%A`, { headers: { 'x-api-key': token } });
    expect(odd.status).toBe(404);
    await own.close();
  });

  it('refuse what they cannot serve in one sentence', async () => {
    const { own, send, result, session, model_id } = await opened({ maxPolicies: 1, maxBodyBytes: 4096 });
    const input = (data: unknown, loss_fn = 'cross_entropy', config?: object) => ({
      ...{ model_id, forward_backward_input: { data: [data], loss_fn, loss_fn_config: config } },
    });
    const cases: readonly [string, unknown, number, RegExp][] = [
      ['/forward_backward', '{', 400, /JSON/],
      ['/forward_backward', {}, 422, /model_id/],
      ['/forward_backward', { ...input(datum([3, 4])), model_id: 'model-9' }, 404, /Model not found/],
      ['/forward_backward', 'x'.repeat(5000), 413, /4096/],
      ['/create_model', { session_id: 'x', base_model: 'tiny' }, 404, /Session not found/],
      ['/create_model', { session_id: session, base_model: 'other' }, 400, /"tiny", got "other"/],
      ['/create_model', { session_id: session, base_model: 'tiny' }, 400, /1 models at once/],
      [
        '/create_sampling_session',
        { session_id: session, model_path: 'tinker://a/sampler_weights/b' },
        404,
        /not found/,
      ],
      ['/weights_info', { tinker_path: 'tinker://../weights/x' }, 400, /expected a path/],
      ['/save_weights', { model_id, path: '../x' }, 422, /letters/],
      ['/nothing', {}, 404, /not served/],
    ];
    for (const [path, body, status, said] of cases) {
      const answer = await send(path, body);
      expect([path, answer.status, answer.body.detail]).toEqual([path, status, expect.stringMatching(said)]);
    }
    const failures: readonly [object, RegExp][] = [
      [input(datum([3, 4, 5]), 'gspo'), /expected one of cross_entropy/],
      [input(datum([3, 4, 5]), 'ppo'), /logprobs: expected 2 numbers.*got none/],
      [input(datum([3, 4, 5], { weights: [1] })), /weights: expected 2 numbers.*got 1/],
      [input(datum([3, 99])), /99/],
      [input(datum([3, 4, 5], { target_tokens: [5, 4] })), /goes on with 4/],
      [input(datum([3, 4, 5]), 'cross_entropy', { beta: 1 }), /no settings/],
    ];
    for (const [body, said] of failures) {
      const { body: failed } = await result(await send('/forward_backward', body));
      expect(failed).toMatchObject({ category: 'user', error: expect.stringMatching(said) });
    }
    expect((await send('/create_session', {}, { 'x-api-key': 'tml-wrong' })).status).toBe(401);
    const proto = await send('/forward', 'x', { 'content-type': 'application/x-protobuf' });
    expect(proto).toMatchObject({ status: 415 });
    const packed = { 'content-type': 'application/x-protobuf', 'content-encoding': 'zstd' };
    expect(await send('/forward_backward', 'x', packed)).toMatchObject({ status: 415 });
    const broken = await send('/forward_backward', 'x', { 'content-type': 'application/x-protobuf' });
    expect(broken).toMatchObject({ status: 400 });
    await own.close();
  });
});
