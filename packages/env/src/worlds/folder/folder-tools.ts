import { ArgumentError, requireArguments } from '@rlp/core';
import type { Sandbox } from '@rlp/sandbox';
import * as z from 'zod';
import { type WorldTool, type WorldToolContext, worldTool } from '../with-world.ts';
import { type Folder, textOf } from './folder-world.ts';
import { safePath } from './safe-path.ts';

type Context = WorldToolContext<Folder>;
const path = z.string().min(1);

/** What {@link folderTools} is made of. */
export interface FolderToolsOptions {
  /** Runs the JavaScript of the folder, as `createSandbox()` of `@rlp/sandbox` makes it. Without it no program runs. */
  readonly sandbox?: Sandbox | undefined;
}

/**
 * Tools for a folder: `list_files`, `read_file`, `write_file`, `delete_file` and, with a sandbox, `run_file`.
 *
 * A program sees the files of the folder by `readFile(path)`, `writeFile(path, text)` and `listFiles()`, and what it prints is the result. It
 * reaches nothing else. If it fails, the files stay as they were.
 */
export function folderTools(options: FolderToolsOptions = {}): readonly WorldTool<Folder>[] {
  requireArguments('folderTools', { options: 'object?' }, options);
  const { sandbox } = options;
  const list = worldTool({
    name: 'list_files',
    description: 'Lists all files with their sizes.',
    parameters: z.object({}),
    execute: (_, { world }: Context) => world.list(),
  });
  const read = worldTool({
    name: 'read_file',
    description: 'Reads a text file.',
    parameters: z.object({ path }),
    execute: async (args, { world }: Context) => textOf(await world.read(args.path)),
  });
  const write = worldTool({
    name: 'write_file',
    description: 'Writes a text file. Replaces it if it exists.',
    parameters: z.object({ path, content: z.string() }),
    execute: async (args, { world }: Context) => {
      await world.write(args.path, args.content);
      return 'written';
    },
  });
  const remove = worldTool({
    name: 'delete_file',
    description: 'Deletes a file.',
    parameters: z.object({ path }),
    execute: async (args, { world }: Context) => {
      await world.remove(args.path);
      return 'deleted';
    },
  });
  return [list, read, write, remove, ...(sandbox ? [runTool(sandbox)] : [])];
}

function runTool(sandbox: Sandbox): WorldTool<Folder> {
  return worldTool({
    name: 'run_file',
    description:
      'Runs a JavaScript file. It may call readFile(path), writeFile(path, text), listFiles() and console.log. Returns what it prints.',
    parameters: z.object({ path }),
    execute: async (args, { world, signal }: Context) => {
      const files = await textFiles(world);
      const source = new Map(files).get(safePath(args.path));
      if (source === undefined) throw new ArgumentError(`there is no text file "${args.path}"`);
      const outcome = await sandbox.call(guest, [files, source], { signal });
      if (outcome.kind === 'failure') throw new Error(`${outcome.printed}${outcome.message}`);
      for (const [changed, text] of outcome.value as [string, string][]) {
        await world.write(changed, text);
      }
      return outcome.printed;
    },
  });
}

/** The files that are text. A program sees no others. */
async function textFiles(world: Folder): Promise<readonly (readonly [string, string])[]> {
  const texts: (readonly [string, string])[] = [];
  for (const file of await world.list()) {
    const bytes = await world.read(file.path);
    try {
      texts.push([file.path, textOf(bytes)]);
    } catch {
      // an image or another binary file
    }
  }
  return texts;
}

/** Runs a program with the files of the folder. Returns paths and texts of the files that it wrote. */
const guest = `(files, source) => {
  const changed = new Map();
  const all = new Map(files);
  globalThis.listFiles = () => [...all.keys()];
  globalThis.readFile = (path) => {
    if (!all.has(path)) throw new Error('there is no file ' + JSON.stringify(path));
    return all.get(path);
  };
  globalThis.writeFile = (path, text) => {
    changed.set(path, String(text));
    all.set(path, String(text));
  };
  return Promise.resolve((0, eval)(source)).then(() => [...changed]);
}`;
