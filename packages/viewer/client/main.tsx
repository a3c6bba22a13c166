/** The program of the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { loadPayload } from './store.ts';

const root = document.getElementById('viewer')!;
root.textContent = 'Opening…';
loadPayload().then(
  (payload) => {
    root.textContent = '';
    render(<App payload={payload} />, root);
  },
  (error: unknown) => {
    root.textContent = `This page cannot be opened: ${String(error)}. It needs a browser that was made after 2023.`;
  },
);
