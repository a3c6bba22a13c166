/**
 * Memory of training steps as `forecastMemory` foretells it, and as a process of its own uses it. One line for each shape of
 * `bench/shapes.ts`: MiB foretold and used, and by how many per cent the former is too high.
 *
 *     node --conditions=@rlp/source --import tsx lab/memory-forecast.ts SHAPE … [--threads 2] [--steps 2] [--options JSON]
 *
 * `--options` are further options of the backend, such as `{"activations":"recompute"}`. With a reference, a step scores it too.
 */
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { policyLoss } from '@rlp/algorithms/loss';
import { createOnnxBackend } from '@rlp/backprop';
import { createEngine } from '@rlp/onnx/runtime';
import { peakMebibytes } from './bench/measurement.ts';
import { type AnyShapeName, allShapes, benchModel, benchSequences } from './bench/shapes.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '2' },
    steps: { type: 'string', default: '2' },
    options: { type: 'string', default: '{}' },
  },
});

async function measure(name: AnyShapeName): Promise<void> {
  const shape = allShapes[name];
  const given = { reference: 'none', ...JSON.parse(values.options) } as const;
  const engine = await createEngine({ threads: Number(values.threads) });
  const backend = await createOnnxBackend({ engine, model: benchModel(shape), learningRate: 1e-4, ...given });
  const loss = policyLoss({ clipHigh: 0.2, proximal: 'behavior', correction: 'none' });
  const sequences = benchSequences(shape, ['behaviorLogprobs']);
  const { bytes } = backend.forecastMemory(sequences)!;
  for (let step = 0; step < Number(values.steps); step++) {
    if (given.reference !== 'none') {
      const tokens = sequences.map((sequence) => [...sequence.tokens]);
      const masks = sequences.map(({ mask }) => mask);
      await backend.logprobs(tokens, { policy: 'reference', masks, sequencesPerRow: 1 });
    }
    await backend.forwardBackward({ sequences }, loss);
    await backend.optimStep();
  }
  const foretold = Object.values(bytes).reduce((sum, part) => sum + part, 0) / 2 ** 20;
  const used = peakMebibytes();
  const [by, rest] = [100 * (foretold / used - 1), [foretold, used].map(Math.round)];
  console.log(`${name.padEnd(16)} ${rest.join(' ')} ${by > 0 ? '+' : ''}${by.toFixed(1)} %`);
  await backend.close();
  await engine.close();
}

const [first, ...others] = positionals as AnyShapeName[];
if (first === undefined || others.length > 0) {
  const names = positionals.length > 0 ? positionals : Object.keys(allShapes);
  for (const name of names) {
    const args = [...process.execArgv, process.argv[1]!, name];
    for (const [option, value] of Object.entries(values)) args.push(`--${option}`, value);
    process.stdout.write((await promisify(execFile)(process.execPath, args)).stdout);
  }
} else await measure(first);
