import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type TrajectoryGroup } from '@rlp/core';
import * as z from 'zod';

const resultSchema = z.union([
  z.strictObject({ file: z.string().regex(/^[a-f0-9]+\.json$/) }),
  z.strictObject({ group: z.looseObject({ id: z.string(), trajectories: z.array(z.unknown()) }) }),
]);

/** Writes a group to the folder, or returns it as it is. Two workers that did one job write the same file. */
export async function storeGroup(
  id: string,
  group: TrajectoryGroup,
  folder: string | undefined,
): Promise<object> {
  if (folder === undefined) return { group };
  const file = `${id}.json`;
  // Not by the store of saves, which lists the folder at each write: this one holds every group of a run.
  const temporary = join(folder, `${file}.${randomUUID()}`);
  await mkdir(folder, { recursive: true });
  await writeFile(temporary, JSON.stringify(group));
  await rename(temporary, join(folder, file));
  return { file };
}

/** @throws EngineError for a result that is not the group of the job. */
export async function loadGroup<Metadata, Outcome>(
  { name, groupId }: { readonly name: string; readonly groupId: string },
  result: unknown,
  folder: string | undefined,
): Promise<TrajectoryGroup<Metadata, Outcome>> {
  const { data } = resultSchema.safeParse(result);
  if (data === undefined) throw new EngineError(`group job ${name}: expected a group, got another result`);
  if ('file' in data && folder === undefined) {
    throw new EngineError(
      `group job ${name}: its worker wrote the group to a folder; set \`results\` here too`,
    );
  }
  const group =
    'file' in data
      ? JSON.parse(await readFile(join(folder!, data.file), 'utf8'))
      : (result as { readonly group: TrajectoryGroup<Metadata, Outcome> }).group;
  if (group.id === groupId) return group;
  throw new EngineError(`group job ${name}: expected the group ${groupId}, got ${group.id}`);
}
