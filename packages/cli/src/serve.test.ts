import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTinkerBackend } from '@rlp/backprop/tinker';
import type { Loss } from '@rlp/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCli } from './run-cli.ts';

const nll: Loss = {
  key: 'nll',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

const stories = fileURLToPath(new URL('../../../examples/models/stories260k', import.meta.url));

/** Runs `rlp serve` until the test stops it. */
function started(...args: string[]) {
  const stop = new AbortController();
  const complaints: string[] = [];
  let told: (line: string) => void;
  const line = new Promise<string>((resolve) => {
    told = resolve;
  });
  const code = runCli(['serve', ...args], {
    print: (text) => told(text),
    printError: (text) => complaints.push(text),
    signal: stop.signal,
    engine: { thread: 'inline', threads: 1 },
  });
  return { line, code, complaints, stop: () => stop.abort(new Error('interrupted')) };
}

describe('rlp serve', () => {
  it('prints what clients need, answers, and ends in order', async () => {
    const server = started(stories);
    const [, base, key] = /^OPENAI_BASE_URL=(\S+) OPENAI_API_KEY=(\S+)$/.exec(await server.line)!;
    const answer = await fetch(`${base}/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'stories260k',
        prompt: 'Once upon a time',
        max_tokens: 4,
        temperature: 0,
      }),
    });
    const { choices } = (await answer.json()) as { choices: { text: string }[] };
    expect(choices[0]!.text).toMatch(/^, there was/);
    expect(server.complaints[0]).toContain('It has no chat template');
    server.stop();
    expect(await server.code).toBe(0);
    await expect(fetch(base!)).rejects.toThrow();
  });

  it('lets clients of Tinker train', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cli-tinker-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const server = started(stories, '--tinker', folder, '--name', 'stories');
    const [, url, apiKey] = /^TINKER_BASE_URL=(\S+) TINKER_API_KEY=(tml-\S+)$/.exec(await server.line)!;
    const backend = await createTinkerBackend({
      url: url!,
      apiKey: apiKey!,
      rank: 2,
      learningRate: 1e-2,
      vocabularySize: 512,
    });
    expect(backend.baseModel).toBe('stories');
    const tokens = [1, 100, 200, 300, 50];
    const sequence = { tokens, mask: [0, 1, 1, 1, 1], weights: tokens.map(() => 0.25), columns: {} };
    const losses: number[] = [];
    for (let update = 0; update < 3; update++) {
      losses.push((await backend.forwardBackward({ sequences: [sequence] }, nll)).loss);
      await backend.optimStep();
    }
    expect(losses[2]).toBeLessThan(losses[0]!);
    await backend.close();
    server.stop();
    expect(await server.code).toBe(0);
    await expect(fetch(url!)).rejects.toThrow();
  });

  it.each([
    [['--tinker', 'x', '--adapter', 'a=b'], /--adapter has no effect with --tinker/],
    [['--tinker', 'x', '--token', 'short'], /at least 16/],
    [['--port', '70000'], /port/],
    [['--token', 'short'], /at least 16/],
    [['--adapter', '=x'], /expected NAME=DIR or DIR, got "=x"/],
    [['--adapter', 'a=x,a=y'], /got "a" twice/],
    [['--adapter', 'stories260k=x'], /differ from each other and from the model's, got "stories260k" twice/],
    [['--token'], /--token needs a value, as in --token TEXT/],
    [['--name='], /--name needs a value, as in --name NAME/],
    [['--host', '--any-name'], /--host needs a value, as in --host HOST/],
    [['--any-name=maybe'], /--any-name takes no value, got "maybe"/],
    [['--threads', '1025'], /--threads must be an integer from 1 to 1024/],
    [['--timeout', '1e12'], /--timeout must be a number from 0.001 to 2147483/],
    [['--requests', '0'], /--requests must be an integer from 1/],
    [['--waiting', '-1'], /--waiting must be an integer from 1/],
  ])('refuses %j as wrong in itself, before the model is read', async (args, message) => {
    const { code, complaints } = started('no-such-model', '--name', 'stories260k', ...args);
    expect(await code).toBe(2);
    expect(complaints.join('\n')).toMatch(message);
  });

  it.each([
    [['--adapter', 'none'], /none/],
    [['--host', 'no such host'], /the host no such host is not known/],
    [
      ['--tinker', join(stories, 'config.json')],
      /config\.json for checkpoints cannot be made: EEXIST.*; name another one/,
    ],
  ])('fails if what a flag names is not there: %j', async (args, message) => {
    const { code, complaints } = started(stories, ...args);
    expect(await code).toBe(1);
    expect(complaints.join('\n')).toMatch(message);
  });

  it('refuses an empty name of the model', async () => {
    const { code, complaints } = started('');
    expect(await code).toBe(2);
    expect(complaints).toEqual(['expected a model folder or the folder of a run, got empty text']);
  });

  it('refuses a short token of the environment', async () => {
    vi.stubEnv('RLP_SERVE_TOKEN', 'short');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, complaints } = started(stories);
    expect(await code).toBe(2);
    expect(complaints).toEqual(['$RLP_SERVE_TOKEN must have at least 16 characters, got 5']);
  });
});
