/** The `ts` blocks of the documents, each as a separate module. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { type Entry, filesIn, packagesIn } from '../workspace.ts';

/** A `ts` block of a document. */
export interface Snippet {
  readonly document: string;
  /** Lines of the document before the block's first. */
  readonly linesBefore: number;
  /** File that the block is written to. */
  readonly path: string;
  readonly code: string;
  readonly use: 'compile' | 'run';
}

const folder = resolve('runs/check/snippets');

const compiler = 'node_modules/typescript-native/bin/tsc';

function snippetsOf(document: string): Snippet[] {
  const text = readFileSync(document, 'utf8');
  return [...text.matchAll(/^```ts( run)?\r?\n([\s\S]*?)^```/gm)].map((block) => {
    const linesBefore = text.slice(0, block.index).split('\n').length;
    const name = `${document.replaceAll(/[^A-Za-z0-9]+/g, '-')}-${linesBefore}.ts`;
    return {
      document,
      linesBefore,
      path: join(folder, name),
      code: `${block[2]}\nexport {};\n`,
      use: block[1] === undefined ? 'compile' : 'run',
    };
  });
}

/** Writes every block to a separate file. */
export function writeSnippets(): Snippet[] {
  const documents = [
    ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'],
    ...filesIn('docs', '.md'),
    ...[...packagesIn('packages'), ...packagesIn('examples')].map(
      ({ directory }) => `${directory}/README.md`,
    ),
  ].filter((document) => existsSync(document));
  const snippets = documents.flatMap(snippetsOf);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, code } of snippets) writeFileSync(path, code);
  return snippets;
}

/** The repository's settings, for modules that read the packages as users do. */
const settings = {
  extends: relative(folder, 'tsconfig.json'),
  compilerOptions: { customConditions: [], noUnusedLocals: false, noUnusedParameters: false },
  include: ['*.ts'],
};

/** What the compiler has against them and against the imports of every entry, by the lines of their documents. */
export function faultsIn(snippets: readonly Snippet[], entries: readonly Entry[]): string[] {
  const imports = entries.map(({ specifier }) => `import ${JSON.stringify(specifier)};\n`);
  writeFileSync(join(folder, 'every-entry.ts'), imports.join(''));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const flags = ['-p', folder, '--noEmit', '--checkers', '1', '--pretty', 'false'];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...flags], { encoding: 'utf8' });
  if (status === 0) return [];
  // runs/check/snippets/README-md-17.ts(3,7): error TS2322: Type …
  return stdout
    .replaceAll(/^(\S+)\((\d+),\d+\): /gm, (place, file: string, line: string) => {
      const found = snippets.find(({ path }) => path === resolve(file));
      return found === undefined ? place : `${found.document}:${Number(line) + found.linesBefore} `;
    })
    .trimEnd()
    .split('\n');
}

/** Writes a snippet beside its own file without its types, and tells where. */
function writeJavaScript({ path, code }: Snippet): string {
  const script = path.replace(/\.ts$/, '.mjs');
  writeFileSync(script, transformSync(code, { loader: 'ts' }).code);
  return script;
}

/** A program that imports snippets one after another, and tells where it is. */
function runnerOf(snippets: readonly Snippet[]): string {
  const places = snippets.map((snippet) => [
    pathToFileURL(writeJavaScript(snippet)).href,
    `${snippet.document}:${snippet.linesBefore + 1}`,
  ]);
  return `
    for (const [url, place] of ${JSON.stringify(places)}) {
      console.log('running ' + place);
      await import(url).catch((error) => {
        console.error(place + ' fails\\n' + (error?.stack ?? error));
        process.exitCode = 1;
      });
    }
  `;
}

/** Runs snippets against the built packages, in one process, because most of the time of a short program is its start. */
export function runSnippets(snippets: readonly Snippet[]): string[] {
  const runner = join(folder, 'run-all.mjs');
  writeFileSync(runner, runnerOf(snippets));
  // What they leave in the temporary folder goes with the snippets.
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const { status, stdout, stderr, signal } = spawnSync(process.execPath, [runner], {
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, TMPDIR: temporary, TEMP: temporary, TMP: temporary },
  });
  if (status === 0) return [];
  const place = [...stdout.matchAll(/^running (.*)$/gm)].at(-1)?.[1];
  return [
    `ended with ${signal ?? `code ${status}`}, the last snippet running was ${place}\n${stderr.trimEnd()}`,
  ];
}
