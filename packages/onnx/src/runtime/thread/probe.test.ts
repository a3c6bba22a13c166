import { EngineError } from '@rlp/core';
import { expect, it } from 'vitest';
import { loadNative } from '../native/load-native.ts';
import type { NativeRuntime } from '../native/native.ts';
import { probeProvider } from './probe.ts';

const runtime = await loadNative();
const options = { executionProvider: 'cpu', threads: 1 } as const;

it('accepts a provider that computes right numbers', async () => {
  await probeProvider(runtime, options);
});

it('refuses a provider that computes wrong numbers, and says by how much', async () => {
  const wrong: NativeRuntime = {
    ...runtime,
    createSession: async (...given) => {
      const session = await runtime.createSession(...given);
      return {
        ...{ inputNames: session.inputNames, outputNames: session.outputNames },
        endProfiling: () => session.endProfiling(),
        release: () => session.release(),
        run: async (...call) => {
          const outputs = await session.run(...call);
          (outputs.y!.data as Float32Array)[5] = 0.75;
          return outputs;
        },
      };
    },
  };
  await expect(probeProvider(wrong, options)).rejects.toThrow(EngineError);
  await expect(probeProvider(wrong, options)).rejects.toThrow(/computes wrong numbers: .* off by 0\.\d+;/);
});
