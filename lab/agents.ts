/**
 * Trains agents of LangChain.js and Mastra, as they are, on the task of the recipe train-your-agent. The frameworks are too large to be
 * dependencies here (0.4 GB), so npm installs them into a folder of their own.
 *
 *     npx tsx --conditions=@rlp/source lab/agents.ts [--framework langchain|mastra] [--folder DIR] [--iterations 30]
 *
 * Prints a JSON line for each, with the share of held-out questions that are right. The report has it before GRPO too.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { trainRun } from '@rlp/run';
import type { calculate } from '../examples/calculating-agent.ts';
import { agentRun } from '../examples/train-your-agent.ts';

/** Versions that run on Node 20. */
const packagesOf = {
  langchain: ['@langchain/core@1.4.0', '@langchain/openai@1.5.13', '@langchain/langgraph@1.7.3', 'zod@4.6.7'],
  mastra: ['@mastra/core@0.24.9', '@ai-sdk/openai-compatible@1.0.61', 'zod@4.6.7'],
};
type Framework = keyof typeof packagesOf;

const { values } = parseArgs({
  options: {
    framework: { type: 'string', multiple: true, default: ['langchain', 'mastra'] },
    folder: { type: 'string', default: join(tmpdir(), 'rlp-agents') },
    iterations: { type: 'string', default: '30' },
  },
});
for (const framework of values.framework as Framework[]) {
  const agent = await installed(framework, join(values.folder, framework));
  const length = { seed: '0', updates: 300, iterations: Number(values.iterations), heldOutQuestions: 200 };
  const { evaluation, files } = await trainRun({
    ...agentRun(length),
    agent: ({ prompt }, { signal, ...address }) => agent(prompt as string, address, signal),
    output: join(values.folder, `${framework}-run`),
  });
  console.log(JSON.stringify({ framework, right: evaluation!.accuracy, report: files.report }));
}

/** The agent of a framework, beside the packages that it imports. */
async function installed(framework: Framework, folder: string): Promise<typeof calculate> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packagesOf[framework]], {
    ...{ cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  });
  const agent = join(folder, 'agent.mjs');
  copyFileSync(new URL(`./agents/${framework}.mjs`, import.meta.url), agent);
  return ((await import(pathToFileURL(agent).href)) as { readonly calculate: typeof calculate }).calculate;
}
