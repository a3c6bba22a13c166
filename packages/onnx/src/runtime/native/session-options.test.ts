import { expect, it } from 'vitest';
import { scaleModel } from '../testing/models.ts';
import { loadNative } from './load-native.ts';
import { sessionOptions } from './session-options.ts';

const base = { executionProvider: 'cpu', threads: 2 } as const;

it('gives ONNX Runtime its settings by their names', () => {
  expect(sessionOptions(base).extra).toEqual({ session: {} });
  const options = { ...base, externalDataFolder: '/models', spinMicroseconds: 20 };
  expect(sessionOptions(options).extra).toEqual({
    session: {
      model_external_initializers_file_folder_path: '/models',
      intra_op: { spin_duration_us: '20' },
    },
  });
  const asleep = sessionOptions({ ...base, spinMicroseconds: 0 });
  expect(asleep.extra).toEqual({ session: { intra_op: { allow_spinning: '0' } } });
});

it.each([undefined, 0, 20])('opens sessions whose threads spin for %s microseconds', async (spin) => {
  const runtime = await loadNative();
  const options = spin === undefined ? base : { ...base, spinMicroseconds: spin };
  const session = await runtime.createSession(scaleModel([2], 3), options);
  expect(session.inputNames.length).toBeGreaterThan(0);
  await session.release();
});
