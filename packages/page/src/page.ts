import { type Html, html } from './html.ts';
import { shortNumber } from './scale.ts';
import { style } from './style.ts';

/** A program that a page runs; pages without one run nothing. */
export interface PageScript {
  readonly code: string;
  /** Says that this script is the page's own; random, and another one for each page. */
  readonly nonce: string;
}

/** What {@link renderPage} puts on a page. */
export interface PageContent {
  readonly title: string;
  /** A sentence or two below the title. */
  readonly lead?: string | undefined;
  readonly body: Html;
  readonly script?: PageScript | undefined;
}

/**
 * A page that stands alone: no request to anywhere and, unless it has a script of its own, nothing that runs; its content
 * security policy forbids both. Light or dark by the reader's preference, usable by keyboard, fit to print.
 */
export function renderPage({ title, lead, body, script }: PageContent): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy(script?.nonce)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main>
<header><h1>${title}</h1>${lead === undefined ? '' : html`<p class="lead">${lead}</p>`}</header>
${body}
<footer>Made by rlp. ${script === undefined ? 'This page makes no requests.' : 'This page asks only the process that serves it.'}</footer>
</main>
${script === undefined ? '' : html`<script nonce="${script.nonce}">${{ html: script.code }}</script>`}</body>
</html>
`;
  return page.html;
}

/** What a page may do: show itself, and with a script of that nonce run it and ask its own server. */
export function contentSecurityPolicy(nonce?: string): string {
  const script = nonce === undefined ? '' : ` script-src 'nonce-${nonce}'; connect-src 'self';`;
  return `default-src 'none'; style-src 'unsafe-inline';${script} base-uri 'none'; form-action 'none'`;
}

/** Figures at the top of a page, by label; numbers are shortened. */
export function summaryList(summary: Readonly<Record<string, string | number>>): Html {
  const entries = Object.entries(summary);
  if (entries.length === 0) return html``;
  const cards = entries.map(
    ([label, value]) =>
      html`<div><dt>${label}</dt><dd>${typeof value === 'number' ? shortNumber(value) : value}</dd></div>`,
  );
  return html`<dl class="summary">${cards}</dl>`;
}
