import { embedding, pickRows } from '@rlp/onnx/layers';
import type { EngineHost } from '@rlp/onnx/runtime';
import { type DecoderBuilder, PolicyGraphs } from '../graphs/policy-graphs.ts';
import { TrainingProgram } from '../program/training-program.ts';
import type { TrainingProgramOptions } from '../program-protocol.ts';
import { type TrainingMethods, trainingMethods } from '../train.program.ts';

/** Size of the vocabulary. */
export const vocabularySize = 6;
const width = 5;

/** Parameters of the model. */
export const parameters = [
  { name: 'embed', shape: [vocabularySize, width] },
  { name: 'head', shape: [vocabularySize, width] },
];

/** Methods of the program: training, and the number of graphs built. */
export type BigramMethods = TrainingMethods & { readonly built: () => number };

/** Trains a bigram model. The next token depends on the last one only. */
export default function createBigramProgram(
  host: EngineHost,
  options: TrainingProgramOptions,
): BigramMethods {
  let built = 0;
  const bigram: DecoderBuilder = (graph, tokens, { picked }) => {
    built++;
    const [table, head] = parameters.map(({ name, shape }) => graph.input(name, 'float32', shape));
    const rows = embedding(table!, tokens, { gradient: 'rows' });
    return {
      hidden: pickRows(rows, picked),
      head: { parameter: 'head', weight: () => head! },
      embedding: { parameter: 'embed', rows },
      parameters: new Map([
        ['embed', table!],
        ['head', head!],
      ]),
    };
  };
  const names = parameters.map(({ name }) => name);
  const program = new TrainingProgram(host, options, new PolicyGraphs(bigram, names));
  return { ...trainingMethods(program), built: () => built };
}
