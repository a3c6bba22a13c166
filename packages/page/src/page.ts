import { type Html, html } from './html.ts';
import { shortNumber } from './scale.ts';
import { style } from './style.ts';

/** A program for a page to run. */
export interface PageScript {
  readonly code: string;
  /** Random number that allows this script. Use a new one for each page. */
  readonly nonce: string;
  /** `'server'`: it may make requests to the server of the page. Default `'server'`. */
  readonly asks?: 'server' | 'nothing' | undefined;
}

/** Content of a page. */
export interface PageContent {
  readonly title: string;
  /** Sentences below the title. */
  readonly lead?: string | undefined;
  readonly body: Html;
  readonly script?: PageScript | undefined;
  /** Name of a module beside the page that it runs, with workers and WebAssembly from the same server. Default none. */
  readonly program?: string | undefined;
}

/**
 * Renders a self-contained page. Its content security policy forbids requests, and scripts other than `script`.
 *
 * The page follows the reader's light or dark preference, works with the keyboard and prints well.
 */
export function renderPage({ title, lead, body, script, program }: PageContent): string {
  const standard = program === undefined ? 'nothing' : 'server';
  const asks = script === undefined ? standard : (script.asks ?? 'server');
  const policy = program === undefined ? contentSecurityPolicy(script?.nonce, asks) : programPolicy;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main>
<header><h1>${title}</h1>${lead === undefined ? '' : html`<p class="lead">${lead}</p>`}</header>
${body}
<footer>Made by rlp. ${asks === 'nothing' ? 'This page makes no requests.' : 'This page asks only the process that serves it.'}</footer>
</main>
${script === undefined ? '' : html`<script nonce="${script.nonce}">${{ html: script.code }}</script>`}${program === undefined ? '' : html`<script type="module" src="${program}"></script>`}</body>
</html>
`;
  return page.html;
}

/** Content security policy of a page. With a nonce, that script may run and, if it asks the server, make requests to it. */
export function contentSecurityPolicy(nonce?: string, asks: 'server' | 'nothing' = 'server'): string {
  const requests = asks === 'server' ? ` connect-src 'self';` : '';
  const script = nonce === undefined ? '' : ` script-src 'nonce-${nonce}';${requests}`;
  return `default-src 'none'; style-src 'unsafe-inline';${script} base-uri 'none'; form-action 'none'`;
}

/** Policy of a page with its own program. Blobs are what it offers to download. */
const programPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; " +
  "connect-src 'self' blob:; img-src data:; base-uri 'none'; form-action 'none'";

/** Figures at the top of a page, by label. Numbers are shortened. */
export function summaryList(summary: Readonly<Record<string, string | number>>): Html {
  const entries = Object.entries(summary);
  if (entries.length === 0) return html``;
  const cards = entries.map(
    ([label, value]) =>
      html`<div><dt>${label}</dt><dd>${typeof value === 'number' ? shortNumber(value) : withRemark(value)}</dd></div>`,
  );
  return html`<dl class="summary">${cards}</dl>`;
}

/** A figure. What follows it in brackets, such as its interval, is smaller and stays on one line. */
function withRemark(figure: string): Html {
  const [, value, remark] = /^(.+?) (\([^()]*\))$/.exec(figure) ?? [];
  return value === undefined ? html`${figure}` : html`${value} <small>${remark!}</small>`;
}
