import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError, MissingPeerError } from '@rlp/core';
import * as onnxRuntime from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { programUrl } from '../../runtime.ts';
import { runScript } from '../testing/run-script.ts';
import { reviveError, serializeError } from '../wire-errors.ts';
import { importRuntime, preferBinding } from './load-native.ts';
import { openPublic } from './native-public.ts';

const failing = (code: string, message: string) => () =>
  Promise.reject(Object.assign(new Error(message), { code }));

describe('importRuntime', () => {
  it('names the install command if onnxruntime-node is missing', async () => {
    const missing = failing(
      'ERR_MODULE_NOT_FOUND',
      "Cannot find package 'onnxruntime-node' imported from here",
    );
    const error = await importRuntime(missing).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MissingPeerError);
    const skipped = process.platform === 'linux' ? 'ONNXRUNTIME_NODE_INSTALL=skip ' : '';
    expect(String(error)).toContain(
      `createEngine of @rlp/onnx/runtime needs the package onnxruntime-node: ${skipped}npm install onnxruntime-node`,
    );
    expect(reviveError(serializeError(error))).toBeInstanceOf(MissingPeerError);
  });

  it('names the platform if onnxruntime-node does not load', async () => {
    const broken = failing('ERR_DLOPEN_FAILED', 'libonnxruntime.so: cannot open shared object file');
    const error = await importRuntime(broken).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EngineError);
    expect(String(error)).toContain(`could not be loaded on ${process.platform}-${process.arch}`);
  });
});

describe('preferBinding', () => {
  it('has a note only if it falls back', () => {
    const runtime = openPublic(onnxRuntime);
    expect(preferBinding(runtime)).toMatchObject({ access: 'binding' });
    expect(preferBinding(runtime).note).toBeUndefined();
    const fallback = preferBinding(runtime, () => undefined);
    expect(fallback.access).toBe('public');
    expect(fallback.note).toMatch(/Install onnxruntime-node@1\.30\.0/);
  });
});

it('a process warns once that outputs are copied, however many engines it starts', async () => {
  const manifest = join(dirname(fileURLToPath(import.meta.resolve('onnxruntime-node'))), '../package.json');
  const { stdout, stderr } = await runScript(`
    import { createRequire } from 'node:module';
    createRequire(${JSON.stringify(import.meta.url)})(${JSON.stringify(manifest)}).version = '1.99.0';
    const { createEngine } = await import(${JSON.stringify(programUrl(import.meta.url, '../../runtime').href)});
    const engines = [await createEngine({ thread: 'inline' }), await createEngine({ thread: 'inline' })];
    for (const engine of engines) await engine.close();
    console.log('closed');
  `);
  expect(stdout).toBe('closed\n');
  expect(stderr.match(/RLP_ONNX_PUBLIC_API\] RlpWarning/g)).toHaveLength(1);
});
