import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { ConversationEnvironment } from '../../conversation-environment.ts';
import type { DefinedEnvironment, Resource } from '../../environment-from-definition.ts';
import { withWorld } from '../with-world.ts';
import { createWorldPool } from '../world-pool.ts';
import { sqlTool } from './sql-tool.ts';
import { createSqlWorld, sqlSchema } from './sql-world.ts';

const schema = sqlSchema.extend({
  /** Statements that fill the database. Default none. */
  setup: z.string().default(''),
  /** Query whose rows are the outcome. Default none. */
  outcome: z.string().min(1).optional(),
  /** Goes before the task's own messages. Default none. */
  systemPrompt: z.string().min(1).optional(),
});

/**
 * A dialogue over a database, for `environmentFromDefinition`. `baseResourceConfig` has `setup`, `outcome`, `systemPrompt` and the limits of
 * `createSqlWorld`.
 */
export function sqlResource(): Resource {
  return (config, tools) => {
    const { setup, outcome, systemPrompt, ...limits } = parseOptions(
      'sqlResource',
      schema,
      config,
      'baseResourceConfig',
    );
    const world = createSqlWorld({ ...limits, setup: () => setup });
    const pool = createWorldPool(world);
    const environment = withWorld(
      new ConversationEnvironment({ systemPrompt }),
      pool,
      [sqlTool(), ...tools],
      {
        observe: async (database) => (outcome === undefined ? [] : (await database.query(outcome)).rows),
      },
    );
    const close = async () => {
      await pool.close();
      await world.close();
    };
    return { environment: environment as unknown as DefinedEnvironment, close };
  };
}
