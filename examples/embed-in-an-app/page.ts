import { scoreLines } from './score.ts';

/** What this page uses of the browser's document. */
interface PageElement {
  value: string;
  textContent: string;
  addEventListener(event: 'input', listener: () => void): void;
}

const { document } = globalThis as unknown as {
  readonly document: { querySelector(selector: string): PageElement };
};
const text = document.querySelector('textarea');
const score = document.querySelector('output');

const show = () => {
  score.textContent = scoreLines(text.value).join('\n');
};
text.addEventListener('input', show);
show();
