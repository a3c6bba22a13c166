import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { ArgumentError, parseOptions } from '@rlp/core';
import { runsPage } from '@rlp/viewer/runs';
import * as z from 'zod';
import { WatchedRuns } from './watched-runs.ts';

const schema = z.strictObject({
  /** Folder of a run, or with folders of runs. Required. */
  directory: z.string().min(1),
  /** Title of the page. Default the name of the folder. */
  title: z.string().min(1).optional(),
});

/** Options of {@link runsFolderPage}. */
export interface RunsFolderPageOptions extends z.input<typeof schema> {}

/**
 * A page of all runs in a folder, as HTML that stands alone: it works from a file, offline, on a phone and in print.
 *
 * @throws OptionsError for wrong options, ArgumentError for a folder that is not there or holds no runs.
 */
export async function runsFolderPage(options: RunsFolderPageOptions): Promise<string> {
  const { directory, title = titleOf(directory) } = parseOptions('runsFolderPage', schema, options);
  await requireFolder(directory);
  const runs = new WatchedRuns(directory);
  await runs.read();
  const { view } = runs;
  if (view.runs.length === 0) throw new ArgumentError(`${directory} holds no runs; \`rlp train\` makes them`);
  const content = { view, curvesOf: (metric: string) => runs.curvesOf(metric) };
  return (await runsPage(content, { title })).page;
}

/** Title of the page of a folder. */
export function titleOf(directory: string): string {
  return `Runs in ${basename(resolve(directory))}`;
}

/** @throws ArgumentError for a folder that is not there. */
export async function requireFolder(directory: string): Promise<void> {
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new ArgumentError(
    `${directory}: expected a folder of runs, got ${found ? 'a file' : 'nothing of that name'}`,
  );
}
