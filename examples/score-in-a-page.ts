/**
 * Score text in a web page
 *
 * The page computes a reward while somebody types. It needs no server: the rewards run in the browser.
 *
 * ```sh
 * pnpm recipe examples/score-in-a-page.ts   # writes runs/score-in-a-page/index.html
 * ```
 *
 * The same file is the page's script and the program that bundles it. Any bundler works without settings.
 */
import { processEpisodeBatchRewards, type RewardConfig } from '@rlp/rewards';

const config: RewardConfig = { targetLength: 12, keywords: ['reward', 'policy'] };

/** A text's reward and its parts, as lines to show. */
export function scoreLines(response: string): string[] {
  const prompt = 'What does a policy learn from?';
  const rewards = processEpisodeBatchRewards([{ prompt, response }], config);
  const parts = Object.entries(rewards.components).map(([name, [value]]) => `${name} ${value?.toFixed(3)}`);
  return [`reward ${rewards.at(0)?.toFixed(3)}`, ...parts];
}

/** What the page uses of the browser's document. */
interface PageElement {
  value: string;
  textContent: string;
  addEventListener(event: 'input', listener: () => void): void;
}

const { document } = globalThis as { readonly document?: { querySelector(selector: string): PageElement } };
if (document !== undefined) {
  const text = document.querySelector('textarea');
  const score = document.querySelector('output');
  const show = () => {
    score.textContent = scoreLines(text.value).join('\n');
  };
  text.addEventListener('input', show);
  show();
}

/** The page with its script inside: one file that needs no server. */
export async function pageHtml(): Promise<string> {
  const esbuild = 'esbuild'; // a variable, so that the page's bundle leaves it out
  const { build } = (await import(esbuild)) as typeof import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [import.meta.filename],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    external: ['node:*'],
    conditions: ['@rlp/source', 'browser', 'import'],
  });
  // Within a script element, only this ends it.
  const script = outputFiles[0]!.text.replaceAll('</script', '<\\/script');
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>What is this text worth?</title>
  <label>What does a policy learn from?<br>
    <textarea cols="60" rows="5">A policy learns from the reward of what it tried: more of what paid.</textarea>
  </label>
  <pre><output></output></pre>
  <script type="module">${script}</script>
</html>
`;
}

if (document === undefined && import.meta.filename === process.argv[1]) {
  const { mkdir, writeFile } = await import('node:fs/promises');
  await mkdir('runs/score-in-a-page', { recursive: true });
  await writeFile('runs/score-in-a-page/index.html', await pageHtml());
  console.log('open runs/score-in-a-page/index.html in a browser');
}
