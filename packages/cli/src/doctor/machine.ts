import { execFile } from 'node:child_process';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { messageOf } from '@rlp/core';
import { createEngine } from '@rlp/onnx/runtime';
import { bytes, type Finding } from './finding.ts';

/** Milliseconds that all probes of providers may take. */
const probeMs = 60_000;

const optional = ['webgpu', 'cuda', 'coreml', 'dml'] as const;

/** Node, threads, memory and what ONNX Runtime can compute on. */
export async function checkMachine(): Promise<Finding[]> {
  const threads = availableParallelism();
  const free = process.availableMemory?.() ?? freemem();
  const findings: Finding[] = [
    nodeFinding(process.versions.node),
    { name: 'threads', state: 'fine', text: `${threads}`, values: { threads } },
    {
      name: 'memory',
      state: 'fine',
      text: `${bytes(free)} free of ${bytes(totalmem())}`,
      values: { free, total: totalmem() },
    },
  ];
  return [...findings, ...(await providerFindings())];
}

/** Whether this Node.js is one that rlp runs on. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSupported = major > 20 || (major === 20 && minor >= 19);
  const text = isSupported ? version : `${version}; rlp needs 20.19 or later`;
  return { name: 'node', state: isSupported ? 'fine' : 'problem', text };
}

/**
 * What a provider that is optional says, by name. A separate process asks, because drivers that are missing write to the terminal, and
 * broken ones end the process.
 */
async function optionalProviders(): Promise<ReadonlyMap<string, string>> {
  const runtime = import.meta.resolve('@rlp/onnx/runtime');
  const program = `
    import { createEngine } from ${JSON.stringify(runtime)};
    for (const executionProvider of ${JSON.stringify(optional)}) {
      const text = await createEngine({ executionProvider, thread: 'inline', threads: 1 })
        .then((engine) => engine.close())
        .then(() => 'works', (error) => error.message);
      console.log(JSON.stringify([executionProvider, text]));
    }`;
  const options = [...process.execArgv, '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, options, { timeout: probeMs }).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  return new Map(
    stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as [string, string]])),
  );
}

/** Only the processor is needed. Others are absent on most machines. */
async function providerFindings(): Promise<Finding[]> {
  const [own, others] = await Promise.all([
    createEngine({ thread: 'inline', threads: 1 })
      .then((engine) => engine.close())
      .then(() => 'works', messageOf),
    optionalProviders(),
  ]);
  const finding = (provider: string, text: string, state: Finding['state']): Finding => ({
    name: `provider ${provider}`,
    state: text === 'works' ? 'fine' : state,
    text: plain(text),
  });
  return [
    finding('cpu', own, 'problem'),
    ...optional.map((name) =>
      finding(name, others.get(name) ?? 'ends or stops the process that asks for it', 'note'),
    ),
  ];
}

/** A message in one line, without the place in the source of ONNX Runtime. */
function plain(message: string): string {
  return message
    .replaceAll(/\s+/g, ' ')
    .replace(/\/\S+\.cc:\d+ .*? was false\. /, '')
    .replaceAll(' )', ')');
}
