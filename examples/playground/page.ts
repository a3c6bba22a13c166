/** The page: a choice of games, a curve, and what the model answers. */
import { html, lineChart } from '@rlp/page';
import { type GameName, games } from './games.ts';
import type { Answer, Progress } from './learn.ts';
import type { FromWorker, ToWorker } from './worker.ts';

/** What the page uses of the browser. TypeScript declares it only together with the whole DOM. */
interface PageElement {
  value: string;
  disabled: boolean;
  hidden: boolean;
  textContent: string;
  innerHTML: string;
  addEventListener(event: 'click', listener: () => void): void;
}

interface Installing {
  readonly state: string;
  addEventListener(event: 'statechange', listener: () => void): void;
}

interface ServiceWorkers {
  readonly ready: Promise<unknown>;
  register(program: string): Promise<{ readonly installing: Installing | null }>;
  addEventListener(event: 'controllerchange', listener: () => void): void;
}

interface Page {
  readonly document: { querySelector(selector: string): PageElement };
  readonly location: { readonly href: string; readonly search: string; reload(): void };
  readonly crossOriginIsolated: boolean;
  readonly navigator: { readonly serviceWorker?: ServiceWorkers };
  readonly Worker: new (
    url: URL,
    options: { readonly type: 'module' },
  ) => {
    postMessage(message: ToWorker): void;
    addEventListener(event: 'message', listener: (event: { readonly data: FromWorker }) => void): void;
    addEventListener(
      event: 'error',
      listener: (event: { readonly message?: string | undefined }) => void,
    ): void;
    terminate(): void;
  };
}

const { document, location, crossOriginIsolated, navigator, Worker } = globalThis as unknown as Page;
const find = (selector: string) => document.querySelector(selector);
const [game, start, pause, stop] = ['#game', '#start', '#pause', '#stop'].map(find) as [
  PageElement,
  PageElement,
  PageElement,
  PageElement,
];
const [status, chart, answers, files] = ['#status', '#chart', '#answers', '#files'].map(find) as [
  PageElement,
  PageElement,
  PageElement,
  PageElement,
];

/** Updates of a run. A test asks for fewer in the address. */
const asked = new URLSearchParams(location.search);
const updates = (name: string, standard: number) => Number(asked.get(name) ?? standard);

let worker: InstanceType<Page['Worker']> | undefined;
let rows: Progress[] = [];

start.addEventListener('click', () => {
  worker?.terminate();
  rows = [];
  worker = new Worker(new URL('worker.js', location.href), { type: 'module' });
  worker.addEventListener('message', ({ data }) => receive(data));
  // A worker whose program cannot be loaded has no message.
  worker.addEventListener('error', ({ message }) =>
    failed(message || 'its program could not be loaded. Check the connection and try again.'),
  );
  worker.postMessage({
    kind: 'start',
    game: game.value as GameName,
    imitations: updates('imitations', 150),
    iterations: updates('iterations', 200),
    assets: new URL('onnx/', location.href).href,
  });
  files.innerHTML = '';
  status.textContent = 'Loading…';
  enable('running');
});

pause.addEventListener('click', () => {
  const isPausing = pause.textContent === 'Pause';
  worker?.postMessage({ kind: isPausing ? 'pause' : 'go on' });
  pause.textContent = isPausing ? 'Go on' : 'Pause';
});

stop.addEventListener('click', () => worker?.postMessage({ kind: 'stop' }));

function enable(state: 'running' | 'idle'): void {
  const isRunning = state === 'running';
  for (const element of [start, game]) element.disabled = isRunning;
  for (const element of [pause, stop]) element.disabled = !isRunning;
  pause.textContent = 'Pause';
}

function receive(message: FromWorker): void {
  if (message.kind === 'progress') show(message.progress);
  else if (message.kind === 'paused') status.textContent = `Paused. ${status.textContent}`;
  else if (message.kind === 'failed') failed(message.reason);
  else finished(message.files);
}

function failed(reason: string): void {
  status.textContent = `It stopped: ${reason}`;
  enable('idle');
}

function show(progress: Progress): void {
  rows.push(progress);
  const { phase, done, total } = progress;
  const doing =
    phase === 'imitate' ? 'It imitates careless examples' : 'It practises, and is told only its score';
  status.textContent = `${doing}: update ${done} of ${total}.`;
  if (progress.answers !== undefined) {
    chart.innerHTML = curves(rows);
    answers.innerHTML = answerRows(progress.answers);
  }
}

function curves(shown: readonly Progress[]): string {
  const points = shown.flatMap(({ done, accuracy }) =>
    accuracy === undefined ? [] : [{ step: done, value: accuracy }],
  );
  const practice = shown.filter(({ phase }) => phase === 'practise').map(({ done }) => done);
  const marks = practice.length < 2 ? [] : [practiceMark(practice)];
  return lineChart('Right answers', [{ name: 'right answers', points }], { axis: 'share', marks }).html;
}

const practiceMark = (steps: readonly number[]) =>
  ({ from: steps[0]!, to: steps.at(-1)!, level: 'low', name: 'practice' }) as const;

function answerRows(shown: readonly Answer[]): string {
  return html`${shown.map(({ prompt, right, response }) => {
    const isRight = response === right;
    return html`<tr><th scope="row">${prompt.slice(0, -1)}</th><td>${response}</td><td class="${isRight ? 'up' : 'down'}">${isRight ? 'right' : `${right} is right`}</td></tr>`;
  })}`.html;
}

function finished(written: readonly (readonly [string, Blob])[]): void {
  const last = rows.findLast(({ accuracy }) => accuracy !== undefined);
  status.textContent = `Done. ${Math.round(100 * (last?.accuracy ?? 0))} % of the answers to new questions are right.`;
  files.innerHTML = html`<p>The model, as files of Hugging Face: ${written.map(
    ([name, content]) =>
      html`<a download="${name}" href="${URL.createObjectURL(content as never)}">${name}</a> `,
  )}</p>`.html;
  enable('idle');
}

game.innerHTML = html`${Object.entries(games).map(
  ([name, { title }]) => html`<option value="${name}">${title}</option>`,
)}`.html;
find('#threads').hidden = crossOriginIsolated;
enable('idle');
if (navigator.serviceWorker !== undefined) await keepFiles(navigator.serviceWorker);

/** Keeps the files of the page in the browser. Kept files are isolated, so a page that is not is loaded again, unless it trains. */
async function keepFiles(serviceWorkers: ServiceWorkers): Promise<void> {
  serviceWorkers.addEventListener('controllerchange', () => {
    if (!crossOriginIsolated && worker === undefined) location.reload();
  });
  const warn = (...reason: unknown[]) =>
    console.warn('The browser does not keep the files of this page, so it needs a connection.', ...reason);
  try {
    const { installing } = await serviceWorkers.register('offline.js');
    installing?.addEventListener('statechange', () => installing.state === 'redundant' && warn());
    await serviceWorkers.ready;
    find('#kept').hidden = false;
  } catch (error) {
    warn(error);
  }
}
