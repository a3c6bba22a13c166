import { parseOptions, requireArguments } from '@rlp/core';
import { contentSecurityPolicy, eventsScript, html, renderPage } from '@rlp/page';
import * as z from 'zod';
import { digest, packed } from '../blocks.ts';
import { type Curve, thinned } from './curve.ts';
import { runsStyle } from './style.ts';
import type { RunsView } from './view.ts';

const schema = z.strictObject({
  /** Title of the page. Default `'Runs'`. */
  title: z.string().default('Runs'),
  /**
   * Allows the script of a page that asks the server for its data, by random text. Default: the page has its data and asks nothing.
   */
  live: z
    .strictObject({
      /** The text, at least 16 characters. A new one for each page. Required. */
      nonce: z.string().min(16),
    })
    .optional(),
});

/** Options of {@link runsPage}. */
export interface RunsPageOptions extends z.input<typeof schema> {}

/** What a page shows: the runs, and the curves of each metric by run. */
export interface RunsContent {
  readonly view: RunsView;
  /** Curves of a metric by name of the run. */
  curvesOf(metric: string): Readonly<Record<string, Curve>>;
}

/**
 * A page of runs side by side, as HTML: curves with zoom and smoothing, evaluations with their intervals, differences between
 * configurations, responses over time, notes and alerts.
 *
 * Without `live` the page stands alone: it has its data, makes no requests, and works from a file.
 *
 * @param content - What a page that stands alone shows.
 * @throws OptionsError for wrong options.
 */
export async function runsPage(
  content: RunsContent | undefined,
  options: RunsPageOptions = {},
): Promise<{ readonly page: string; readonly contentSecurityPolicy: string }> {
  requireArguments('runsPage', { content: 'object?' }, content);
  const { title, live } = parseOptions('runsPage', schema, options);
  // Loaded where it is needed, because it is the largest part.
  const { clientCode } = await import('#runs-client');
  const index = live || !content ? '' : await packed(JSON.stringify(content.view));
  const blocks = [];
  for (const [at, metric] of (live || !content ? [] : content.view.metrics).entries()) {
    const curves = Object.entries(content!.curvesOf(metric)).map(([run, curve]) => [run, thinned(curve)]);
    const block = await packed(JSON.stringify(Object.fromEntries(curves)));
    blocks.push(html`<script type="text/plain" id="curves-${at}">${block}</script>\n`);
  }
  const body = html`<style>${{ html: runsStyle }}</style>
<div id="runs"><noscript>This page needs JavaScript. It runs only what it came with.</noscript></div>
<script type="text/plain" id="index">${index}</script>
${blocks}`;
  const nonce = live?.nonce ?? (await digest(index));
  const asks = live ? 'server' : 'nothing';
  return {
    page: renderPage({
      title,
      body,
      script: { code: live ? eventsScript + clientCode : clientCode, nonce, asks },
    }),
    contentSecurityPolicy: contentSecurityPolicy(nonce, asks),
  };
}
