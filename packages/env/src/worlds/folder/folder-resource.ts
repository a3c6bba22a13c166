import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { ConversationEnvironment } from '../../conversation-environment.ts';
import type { DefinedEnvironment, Resource } from '../../environment-from-definition.ts';
import { withWorld } from '../with-world.ts';
import { createWorldPool } from '../world-pool.ts';
import { type FolderToolsOptions, folderTools } from './folder-tools.ts';
import { folderSchema, folderWorld } from './folder-world.ts';

const schema = folderSchema.extend({
  /** Text files by their paths. Default none. */
  files: z.record(z.string(), z.string()).default({}),
  /** Goes before the task's own messages. Default none. */
  systemPrompt: z.string().min(1).optional(),
});

/**
 * A dialogue over a folder, for `environmentFromDefinition`. `baseResourceConfig` has `files`, `systemPrompt`, `maxFiles`, `maxBytes` and
 * `directory`. The outcome has the paths and sizes of the files.
 */
export function folderResource(options: FolderToolsOptions = {}): Resource {
  return (config, tools) => {
    const { files, systemPrompt, ...limits } = parseOptions(
      'folderResource',
      schema,
      config,
      'baseResourceConfig',
    );
    const pool = createWorldPool(folderWorld({ ...limits, files: () => files }));
    const all = [...folderTools(options), ...tools];
    const environment = withWorld(new ConversationEnvironment({ systemPrompt }), pool, all, {
      observe: (folder) => folder.list(),
    });
    return { environment: environment as unknown as DefinedEnvironment, close: () => pool.close() };
  };
}
