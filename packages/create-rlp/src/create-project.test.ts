import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProject } from './create-project.ts';

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

it('never overwrites a file', async () => {
  writeFileSync(join(root, 'run.ts'), 'mine');
  await expect(createProject({ directory: root })).rejects.toThrow(
    /already has run\.ts; nothing was written/,
  );
  expect(readdirSync(root)).toEqual(['run.ts']);
  await expect(createProject({ directory: join(root, 'run.ts') })).rejects.toThrow('is a file');
});
