import { availableParallelism, freemem, totalmem } from 'node:os';
import { messageOf } from '@rlp/core';
import { createEngine, type EngineOptions } from '@rlp/onnx/runtime';
import { bytes, type Finding } from './finding.ts';

const providers = ['cpu', 'webgpu', 'cuda', 'coreml', 'dml'] as const;

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
  for (const provider of providers) findings.push(await providerFinding(provider));
  return findings;
}

/** Whether this Node.js is one that rlp runs on. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSupported = major > 20 || (major === 20 && minor >= 19);
  const text = isSupported ? version : `${version}; rlp needs 20.19 or later`;
  return { name: 'node', state: isSupported ? 'fine' : 'problem', text };
}

async function providerFinding(
  executionProvider: NonNullable<EngineOptions['executionProvider']>,
): Promise<Finding> {
  const name = `provider ${executionProvider}`;
  try {
    const engine = await createEngine({ executionProvider, thread: 'inline', threads: 1 });
    await engine.close();
    return { name, state: 'fine', text: 'works' };
  } catch (error) {
    // Only the processor is needed. Others are absent on most machines.
    const [reason = ''] = messageOf(error).split('\n');
    return { name, state: executionProvider === 'cpu' ? 'problem' : 'note', text: reason };
  }
}
