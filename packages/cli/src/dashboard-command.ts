import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeTextFile } from '@rlp/data/store';
import { runsFolderPage, serveDashboard } from '@rlp/run/dashboard';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { numberOf } from './numbers.ts';

/** `rlp dashboard`. */
export const dashboardCommand = defineCommand({
  meta: { name: 'dashboard', description: 'Watch runs side by side: curves, evaluations, responses, alerts' },
  args: {
    directory: {
      type: 'positional',
      description: 'Folder of a run, or with folders of runs',
      default: 'runs',
    },
    out: { type: 'string', description: 'Write a page that stands alone, and end', valueHint: 'FILE.html' },
    title: { type: 'string', description: 'Title of the page', valueHint: 'TEXT' },
    port: { type: 'string', description: 'Port to listen on (default: any free one)', valueHint: 'N' },
    host: { type: 'string', description: 'Address to listen on', default: '127.0.0.1', valueHint: 'NAME' },
    token: { type: 'string', description: 'Token of readers (default: a random one)', valueHint: 'TEXT' },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print, signal } = data as CliContext;
    const { directory, title, out, port, host, token } = args;
    const named = { directory, ...(title !== undefined && { title }) };
    const tell = (key: 'out' | 'url', value: string, text: string) =>
      print(args.json ? JSON.stringify({ [key]: value }) : text);
    if (out !== undefined) {
      await writeTextFile(out, await runsFolderPage(named));
      return tell('out', out, pathToFileURL(resolve(out)).href);
    }
    await using dashboard = await serveDashboard({
      ...{ ...named, host },
      port: numberOf('port', port, { least: 0, most: 65_535, kind: 'integer' }) ?? 0,
      ...(token !== undefined && { token }),
    });
    tell('url', dashboard.url, `${dashboard.url}\nThe address has the token in it. Ctrl-C ends.`);
    if (signal === undefined || signal.aborted) return;
    await once(signal, 'abort');
  },
});
