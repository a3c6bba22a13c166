/** The program of the page of runs. */
import { render } from 'preact';
import plotStyle from 'uplot/dist/uPlot.min.css';
import { App } from './app.tsx';
import { openSource, Refused, unknownReader } from './source.ts';

const root = document.getElementById('runs')!;

async function open(): Promise<void> {
  root.textContent = 'Opening…';
  const source = await openSource();
  const view = await source.view();
  document.head.append(Object.assign(document.createElement('style'), { textContent: plotStyle }));
  root.textContent = '';
  render(<App source={source} first={view} />, root);
}

open().catch((error: unknown) => {
  const isUnknown = error instanceof Refused && error.status === 401;
  root.textContent = isUnknown
    ? unknownReader
    : `This page cannot be opened: ${String(error)}. It needs a browser that was made after 2023.`;
});
addEventListener('hashchange', () => location.reload());
