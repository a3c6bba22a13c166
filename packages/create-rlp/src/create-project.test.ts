import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createFromProcess } from './create-from-process.ts';
import { createProject, nextSteps, templates } from './create-project.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'create-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('writes a project whose parts name each other', async () => {
  const directory = join(root, 'My Model!');
  const { files, name } = await createProject({ directory });
  expect(name).toBe('my-model-');
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  expect(manifest.name).toBe(name);
  expect(Object.values(manifest.dependencies)).not.toContain('^RLP_VERSION');
  expect(files).toContain('.gitignore');
  const rows = readFileSync(join(directory, 'data/questions.jsonl'), 'utf8').trim().split('\n');
  expect(rows).toHaveLength(20);
  expect(readdirSync(directory).sort()).toEqual(
    ['.gitignore', 'README.md', 'data', 'package.json', 'run.ts', 'src', 'tsconfig.json'].sort(),
  );
});

it('has templates whose files are complete', async () => {
  for (const template of Object.keys(templates)) {
    const directory = join(root, template);
    const { files } = await createProject({ directory, template });
    const expected = [
      '.gitignore',
      'README.md',
      'data/questions.jsonl',
      'package.json',
      'run.ts',
      'tsconfig.json',
    ];
    expect(files).toEqual(expect.arrayContaining(expected));
    expect(files.filter((file) => /^src\/.*\.test\.ts$/.test(file))).toHaveLength(1);
    const { scripts, devDependencies, dependencies } = JSON.parse(
      readFileSync(join(directory, 'package.json'), 'utf8'),
    );
    expect(scripts).toMatchObject({ train: 'rlp train run.ts', types: 'tsc --noEmit' });
    expect(Object.keys(devDependencies)).toEqual(['@types/node', 'tsx', 'typescript']);
    const imported = files
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...readFileSync(join(directory, file), 'utf8').matchAll(/from '([^.][^']*)'/g)])
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith('node:'));
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(imported));
    const named = /^ *model: .*'\w[\w.-]*\/[\w.-]+'/m.test(readFileSync(join(directory, 'run.ts'), 'utf8'));
    expect(Object.hasOwn(dependencies, '@huggingface/hub')).toBe(named);
  }
  await expect(createProject({ directory: join(root, 'x'), template: 'rewards' })).rejects.toThrow(
    'template: expected reward, sft, agent-with-tools, got "rewards"',
  );
});

it.each([
  ['pnpm/10.34.9 npm/? node/v20.20.2 linux x64', ['pnpm install', 'pnpm test', 'pnpm run train']],
  ['bun/1.2.0 npm/? node/v22', ['bun install', 'bun run test', 'bun run train']],
  ['cnpm/9', ['npm install', 'npm test', 'npm run train']],
  [undefined, ['npm install', 'npm test', 'npm run train']],
])('names the commands of the package manager that started it: %s', (agent, commands) => {
  vi.stubEnv('npm_config_user_agent', agent);
  onTestFinished(() => void vi.unstubAllEnvs());
  const steps = nextSteps({ directory: root, name: 'a', files: ['run.ts'] })
    .split('\n')
    .slice(-3);
  expect(steps.map((line) => line.replace('ONNXRUNTIME_NODE_INSTALL=skip', '').trim())).toEqual(commands);
});

it('never overwrites a file', async () => {
  writeFileSync(join(root, 'run.ts'), 'mine');
  await expect(createProject({ directory: root })).rejects.toThrow(
    /already has run\.ts; nothing was written/,
  );
  expect(readdirSync(root)).toEqual(['run.ts']);
  await expect(createProject({ directory: join(root, 'run.ts') })).rejects.toThrow('is a file');
});

it.skipIf(process.platform !== 'linux')('ends where no folder can be made', async () => {
  await expect(createProject({ directory: '/proc/x' })).rejects.toThrow(/ENOENT.*mkdir '\/proc\/x'/);
});

it.each([
  [['--tmplate', 'sft'], 2, /^Unknown option '--tmplate'\nnpm create rlp FOLDER/],
  [['a', 'b'], 2, /^expected one folder, got also "b"\n/],
  [['a', '--template', 'none'], 1, /^template: expected reward, sft, agent-with-tools, got "none"\n$/],
  [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
  [['--help'], 0, /^npm create rlp FOLDER .*\n {2}reward: /],
])('answers npm create rlp %j', async (args, code, said) => {
  const written: string[] = [];
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  const given = process.argv;
  process.argv = ['node', 'create-rlp', ...args];
  onTestFinished(() => {
    vi.restoreAllMocks();
    process.argv = given;
  });
  expect(await createFromProcess()).toBe(code);
  expect(written.join('')).toMatch(said);
});
