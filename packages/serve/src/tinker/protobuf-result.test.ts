import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { protobufResult } from './protobuf-result.ts';

/** Messages as the Python client 0.38.0 describes them (`tinker_public_pb2`). */
const messages = protobuf.Root.fromJSON({
  nested: {
    ForwardBackwardOutput: {
      fields: {
        loss_fn_output_type: { id: 1, type: 'string' },
        loss_fn_outputs: { id: 2, type: 'ArrayRecord', rule: 'repeated' },
        metrics: { id: 3, keyType: 'string', type: 'double' },
      },
    },
    ArrayRecord: {
      fields: {
        type_tag: { id: 1, type: 'string' },
        fields: { id: 2, keyType: 'string', type: 'BatchedTensor' },
        num_datums: { id: 3, type: 'int64' },
      },
    },
    BatchedTensor: {
      fields: {
        data: { id: 1, type: 'bytes' },
        offsets: { id: 2, type: 'bytes' },
        dtype: { id: 3, type: 'int32' },
      },
    },
    SampleResponse: {
      fields: {
        sequences: { id: 1, type: 'SampledSequence', rule: 'repeated' },
        prompt_logprobs: { id: 2, type: 'bytes' },
        topk_prompt_logprobs: { id: 3, type: 'TopkLogprobs' },
      },
    },
    SampledSequence: {
      fields: {
        stop_reason: { id: 1, type: 'int32' },
        tokens: { id: 2, type: 'bytes' },
        logprobs: { id: 3, type: 'bytes' },
      },
    },
    TopkLogprobs: {
      fields: {
        token_ids: { id: 1, type: 'bytes' },
        logprobs: { id: 2, type: 'bytes' },
        k: { id: 3, type: 'uint32' },
        length: { id: 4, type: 'uint32' },
      },
    },
  },
} as protobuf.INamespace);

function decoded(name: string, result: object) {
  const type = messages.lookupType(name);
  return type.toObject(type.decode(protobufResult(result)!), { longs: Number, defaults: true });
}

const copied = (bytes: Uint8Array) => new Uint8Array(bytes).buffer;
const floats = (bytes: Uint8Array) => [...new Float32Array(copied(bytes))];
const integers = (bytes: Uint8Array) => [...new Int32Array(copied(bytes))];

describe('a result as protobuf', () => {
  it('of a pass has the logprobs of all data in one tensor, with where each begins in bytes', () => {
    const rows = [[-0.5, -1.5], [], [-2.25]];
    const found = decoded('ForwardBackwardOutput', {
      loss_fn_output_type: 'TensorData',
      loss_fn_outputs: rows.map((data) => ({ logprobs: { data } })),
      metrics: { 'loss:sum': 4.25 },
    });
    expect(found).toMatchObject({ loss_fn_output_type: 'TensorData', metrics: { 'loss:sum': 4.25 } });
    expect(found.loss_fn_outputs).toMatchObject([{ num_datums: 3, fields: { logprobs: { dtype: 1 } } }]);
    const { data, offsets } = found.loss_fn_outputs[0].fields.logprobs;
    expect(floats(data)).toEqual([-0.5, -1.5, -2.25]);
    expect([...new BigInt64Array(copied(offsets))]).toEqual([0n, 8n, 8n, 12n]);
  });

  it('of samples has tokens and logprobs, and gaps where the prompt has none', () => {
    const found = decoded('SampleResponse', {
      sequences: [
        { stop_reason: 'stop', tokens: [7, 300], logprobs: [-0.25, -4] },
        { stop_reason: 'length', tokens: [], logprobs: [] },
      ],
      prompt_logprobs: [null, -1],
      topk_prompt_logprobs: [
        null,
        [
          [9, -0.125],
          [8, -3],
        ],
      ],
    });
    const [first, second] = found.sequences;
    expect([first.stop_reason, second.stop_reason]).toEqual([0, 1]);
    expect([integers(first.tokens), floats(first.logprobs)]).toEqual([
      [7, 300],
      [-0.25, -4],
    ]);
    expect(integers(second.tokens)).toEqual([]);
    expect(floats(found.prompt_logprobs)).toEqual([Number.NaN, -1]);
    const { token_ids, logprobs, ...size } = found.topk_prompt_logprobs;
    expect(size).toEqual({ k: 2, length: 2 });
    expect([integers(token_ids), floats(logprobs)]).toEqual([
      [0, 0, 9, 8],
      [-99999, -99999, -0.125, -3],
    ]);
  });

  it('is there for these two only', () => {
    expect(protobufResult({ type: 'optim_step', metrics: {} })).toBeUndefined();
  });
});
