import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Projects that {@link createProject} makes, each with what it is for. */
export const templates = {
  reward: 'a reward of your own: it imitates answers, then practises',
  sft: 'questions with answers that are imitated',
  'agent-with-tools': 'a model from the hub that practises to call a tool',
} as const;

/** Name of a template. */
export type TemplateName = keyof typeof templates;

/** Options of {@link createProject}. */
export interface CreateProjectOptions {
  /** Folder of the project. Made if it does not exist. */
  readonly directory: string;
  /** Name in `package.json`. Default the folder's name, as far as npm allows it. */
  readonly name?: string | undefined;
  /** What the project does. Default `'reward'`. */
  readonly template?: TemplateName | (string & {}) | undefined;
}

/** A project that was made. */
export interface CreatedProject {
  readonly directory: string;
  readonly name: string;
  /** Paths of its files, relative to the folder. */
  readonly files: readonly string[];
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** npm leaves a `.gitignore` out of packages, so the template has another name for it. */
const renamed = new Map([['gitignore', '.gitignore']]);

/**
 * Makes a project that trains a model: a reward, a check of data or a tool with its test, 20 rows of data, a run file in TypeScript, types.
 *
 * Files that exist are never overwritten.
 *
 * @throws Error naming the files that exist already, the folder if it is a file, or the templates that exist.
 */
export async function createProject({
  directory,
  name,
  template = 'reward',
}: CreateProjectOptions): Promise<CreatedProject> {
  if (!Object.hasOwn(templates, template)) {
    throw new Error(`template: expected ${Object.keys(templates).join(', ')}, got "${template}"`);
  }
  const named = name ?? packageName(basename(resolve(directory)));
  const found = await stat(directory).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) {
    throw new Error(`${directory} is a file; choose another folder for the project`);
  }
  const contents = new Map([...(await filesOf('common', named)), ...(await filesOf(template, named))]);
  const taken = await Promise.all(
    [...contents.keys()].map(async (path) => ((await exists(join(directory, path))) ? [path] : [])),
  );
  if (taken.flat().length > 0) {
    throw new Error(
      `${directory} already has ${taken.flat().join(', ')}; nothing was written, choose an empty folder`,
    );
  }
  for (const [path, text] of contents) {
    await makeFolder(dirname(join(directory, path)));
    await writeFile(join(directory, path), text, { flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOSPC' && cause.code !== 'EDQUOT') throw cause;
      throw new Error(
        `no space is left for ${join(directory, path)}; free some, delete the files that were written, and try again`,
        { cause },
      );
    });
  }
  return { directory, name: named, files: [...contents.keys()] };
}

/** Makes a folder and those above it. Node's own `recursive` never ends where none can be made, as in `/proc`. */
async function makeFolder(path: string): Promise<void> {
  if (await exists(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
  });
}

const packageManagers = ['npm', 'pnpm', 'yarn', 'bun'];

/** The package manager that started this process. npm if none did. */
function packageManager(): string {
  const [name = ''] = (process.env.npm_config_user_agent ?? '').split('/');
  return packageManagers.includes(name) ? name : 'npm';
}

/** What to do with a new project, as text, with the commands of the package manager that started this process. */
export function nextSteps({ directory, files }: CreatedProject): string {
  const manager = packageManager();
  const enter = resolve(directory) === process.cwd() ? [] : [`  cd ${directory}`];
  // The install script of onnxruntime-node would fetch CUDA libraries, which nothing here needs. npm 11 reads `allowScripts` instead.
  const skipped = process.platform === 'linux' ? 'ONNXRUNTIME_NODE_INSTALL=skip ' : '';
  return [
    `${files.length} files written. Next:`,
    ...enter,
    `  ${skipped}${manager} install`,
    // `bun test` is bun's own.
    `  ${manager} ${manager === 'bun' ? 'run ' : ''}test`,
    `  ${manager} run train`,
  ].join('\n');
}

/** Files of a part of the templates by their path, filled in. */
async function filesOf(part: string, name: string): Promise<ReadonlyMap<string, string>> {
  const version = await packageVersion();
  const folder = join(root, 'template', part);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(
    files.sort().map(async (file) => {
      const path = relative(folder, file).replaceAll('\\', '/');
      const text = await readFile(file, 'utf8');
      const filled = text.replaceAll('PROJECT_NAME', name).replaceAll('RLP_VERSION', version);
      return [renamed.get(path) ?? path, filled] as const;
    }),
  );
  return new Map(contents);
}

/** Version of this package, which is that of all others. */
export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/** A name that npm takes. */
function packageName(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '');
  return name === '' ? 'my-model' : name.slice(0, 200);
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
