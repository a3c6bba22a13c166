import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { byteTokenizer, createModel, parseModelConfig, saveModel } from '@rlp/models';
import { type RunConfig, trainRun } from '@rlp/run';
import { afterAll, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'cli-templates-'));
afterAll(() => rmSync(directory, { recursive: true }));
const root = fileURLToPath(new URL('../../..', import.meta.url));

async function rlp(...args: string[]) {
  const [said, complaints]: [string[], string[]] = [[], []];
  const context = {
    print: (line: string) => said.push(line),
    printError: (line: string) => complaints.push(line),
  };
  const code = await runCli(args, context);
  return { code, said: said.join('\n'), complaints: complaints.join('\n') };
}

const templateFolder = (name: string) => join(root, 'packages/create-rlp/template', name);

/** Makes a project, and trains what its run file says, for a moment. */
async function trained(template: string, short: (config: RunConfig) => Partial<RunConfig>) {
  const project = join(directory, template);
  expect(await rlp('init', project, '--template', template)).toMatchObject({ code: 0 });
  // The run file of the template itself, because the packages that it imports are found from there.
  const module = await import(pathToFileURL(join(templateFolder(template), 'run.ts')).href);
  const config = (module as { readonly default: RunConfig }).default;
  const own = { data: join(project, 'data/questions.jsonl'), output: join(project, 'runs/first') };
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  const few = {
    ...config,
    ...own,
    engine: { thread: 'inline' as const, threads: 1 },
    evaluation: { heldOut: 2 },
    ...short(config),
  };
  const result = await trainRun(few, { stream });
  expect(existsSync(result.files.report)).toBe(true);
  return result;
}

/** A model of 20 thousand random weights that can chat, in a folder. */
async function chatModel(): Promise<string> {
  const folder = join(directory, 'model');
  const tokenizer = byteTokenizer({ begin: '<s>', end: '</s>' });
  const config = parseModelConfig({
    ...{ model_type: 'llama', architectures: ['LlamaForCausalLM'], vocab_size: tokenizer.vocabularySize },
    ...{ hidden_size: 32, intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 },
    ...{ num_key_value_heads: 2, max_position_embeddings: 1024, tie_word_embeddings: true },
  });
  await saveModel(folder, createModel({ config, tokenizer, seed: '0' }));
  const path = join(folder, 'tokenizer_config.json');
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as object) : {};
  const template =
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}";
  writeFileSync(path, JSON.stringify({ ...known, chat_template: template }));
  return folder;
}

const briefly = ({ sft, algorithm }: RunConfig) => ({
  ...(sft && { sft: { ...sft, updates: 2 } }),
  ...(algorithm && { algorithm: { ...algorithm, iterations: 1 } }),
});

it('makes projects whose run files train', async () => {
  expect(await trained('reward', briefly)).toMatchObject({ mode: 'sft+rl', status: 'finished' });
  expect(await trained('sft', briefly)).toMatchObject({ mode: 'sft', status: 'finished' });
}, 60_000);

it('makes a project of an agent that trains a model that can chat', async () => {
  const model = await chatModel();
  const agent = await trained('agent-with-tools', ({ algorithm }) => {
    const rollout = { ...algorithm!.rollout, sampling: { maxTokens: 4 } };
    return { model, algorithm: { ...algorithm!, rollout, iterations: 1 } };
  });
  expect(agent).toMatchObject({ mode: 'rl', status: 'finished' });
}, 60_000);

it('makes projects whose tests pass', async () => {
  const tests = ['reward/src/rewards', 'sft/src/questions', 'agent-with-tools/src/calculator'];
  const files = tests.map((test) => templateFolder(`${test}.test.ts`));
  const flags = ['--conditions=@rlp/source', '--import', import.meta.resolve('tsx'), '--test', ...files];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: templateFolder('common') });
  expect(stdout).toMatch(/fail 0/);
  expect(stdout).toMatch(/pass [4-9]/);
}, 60_000);

it('names the templates that exist', async () => {
  const wrong = await rlp('init', join(directory, 'wrong'), '--template', 'agents');
  expect(wrong).toMatchObject({
    code: 2,
    complaints: 'rlp init: template: expected reward, sft, agent-with-tools, got "agents"',
  });
});
