import { codedBlock } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';
import { eightBitBytes, eightBitState, hasEightBitMoments } from './eight-bit.ts';

it('moments of fewer than 4096 numbers stay in float32', () => {
  const [small, large] = [{ shape: [4095] }, { shape: [64, 64] }];
  expect([small, large].map(hasEightBitMoments)).toEqual([false, true]);
  expect(eightBitBytes(small)).toBe(8 * 4095);
  expect(eightBitBytes(large)).toBe(2 * (4096 + (4 * 4096) / codedBlock));
  const parameter = { name: 'w', role: 'linear' } as const;
  expect(eightBitState({ ...parameter, ...small })).toEqual({ moment1: [4095], moment2: [4095] });
  const [codes, scales] = [[1366], [4096 / codedBlock]];
  expect(eightBitState({ ...parameter, ...large })).toEqual({
    ...{ codes1: codes, scales1: scales, codes2: codes, scales2: scales },
  });
});
