import { expect, it } from 'vitest';
import type { Measurement } from './measurement.ts';
import { median, reportLine, summarize } from './report.ts';

const round = (milliseconds: number[], peakRssMiB: number, lag: number): Measurement => ({
  milliseconds,
  processorMilliseconds: milliseconds.map((time) => 2 * time),
  tokens: 1000,
  peakRssMiB,
  extra: { lag, operators: 'all' },
});

it('takes the middle of odd and even counts', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

it('sums up rounds by the median of their medians and the largest memory', () => {
  const summary = summarize([
    round([100, 200, 300], 50, 1),
    round([900, 900, 900], 70, 3),
    round([400, 500], 60, 2),
  ]);
  expect(summary).toEqual({
    milliseconds: 450,
    tokens: 1000,
    tokensPerSecond: 1000 / 0.45,
    processorMilliseconds: 900,
    bestMilliseconds: 100,
    peakRssMiB: 70,
    extra: { lag: 2, operators: 'all' },
    version: undefined,
  });
});

it('reports ratios to every peer', () => {
  const ours = summarize([round([100, 50, 200], 50, 1)]);
  const peers = [
    { peer: 'plain', ...summarize([round([150], 100, 0)]) },
    { peer: 'strongest', ...summarize([round([80], 200, 0)]) },
    { peer: 'bf16', ...summarize([{ ...round([80], 200, 0), tokens: 500 }]) },
  ];
  expect(reportLine({ name: 'train-step', shape: 'S' }, ours, peers)).toMatchObject({
    value: 10_000,
    unit: 'tokens/s',
    peer: 'plain',
    ratio: 1.5,
    ratioStrongest: 0.8,
    ratioBf16: 1.6,
    ratioBest: 3,
    ratioBestStrongest: 1.6,
    ratioProcessorBf16: 1.6,
    bestMs: 50,
    memoryRatio: 0.5,
    ms: 100,
    peakRssMiB: 50,
  });
});

it('has no ratios without a peer', () => {
  const line = reportLine({}, summarize([round([100], 50, 1)]), []);
  expect(Object.keys(line)).toEqual([
    'value',
    'unit',
    'ms',
    'processorMs',
    'bestMs',
    'peakRssMiB',
    'lag',
    'operators',
  ]);
});
