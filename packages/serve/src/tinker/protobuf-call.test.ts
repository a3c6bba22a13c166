import { describe, expect, it } from 'vitest';
import { protobufCall } from './protobuf-call.ts';
import { requestSchemas } from './wire.ts';

/** Bodies of `forward_backward` and of `forward`, recorded from the Python client 0.38.0. */
const recorded = {
  forwardBackward:
    'Cgdtb2RlbC0xEAEahAEKGAoWChQDAAAABAAAAAUAAAAGAAAABwAAABImCgd3ZWlnaHRzEhsKFAAAgD8AAIA/AACAPwAAgD8AAIA/GAEiAQUSQAoNdGFyZ2V0X3Rva2VucxIvCigEAAAAAAAAAAUAAAAAAAAABgAAAAAAAAAHAAAAAAAAAAgAAAAAAAAAGAIiAQUiDWNyb3NzX2VudHJvcHk=',
  forward:
    'Cgdtb2RlbC0xEBoahAEKGAoWChQDAAAABAAAAAUAAAAGAAAABwAAABImCgd3ZWlnaHRzEhsKFAAAgD8AAIA/AACAPwAAgD8AAIA/GAEiAQUSQAoNdGFyZ2V0X3Rva2VucxIvCigEAAAAAAAAAAUAAAAAAAAABgAAAAAAAAAHAAAAAAAAAAgAAAAAAAAAGAIiAQUiDWNyb3NzX2VudHJvcHkwAQ==',
};

const pass = {
  data: [
    {
      model_input: { chunks: [{ type: 'encoded_text', tokens: [3, 4, 5, 6, 7] }] },
      loss_fn_inputs: {
        target_tokens: { data: [4, 5, 6, 7, 8], dtype: 'int64', shape: [5] },
        weights: { data: [1, 1, 1, 1, 1], dtype: 'float32', shape: [5] },
      },
    },
  ],
  loss_fn: 'cross_entropy',
  loss_fn_config: {},
};

const bytesOf = (name: keyof typeof recorded) => Buffer.from(recorded[name], 'base64');

describe('a request of the Python client as protobuf', () => {
  it('is the request that JSON would be', () => {
    const { path, body } = protobufCall(bytesOf('forwardBackward'));
    expect(path).toBe('/forward_backward');
    expect(requestSchemas['/forward_backward'].parse(body)).toMatchObject({
      ...{ model_id: 'model-1', seq_id: 1, forward_backward_input: pass },
    });
  });

  it('is a forward pass where the client asks for no gradient', () => {
    const { path, body } = protobufCall(bytesOf('forward'));
    expect(path).toBe('/forward');
    expect(requestSchemas['/forward'].parse(body)).toMatchObject({ seq_id: 26, forward_input: pass });
  });

  it('is refused at every place where it is cut within a field', () => {
    const bytes = bytesOf('forwardBackward');
    for (const end of [1, 5, 14, 40, 90, bytes.length - 1])
      expect(() => protobufCall(bytes.subarray(0, end))).toThrow(/expected a ForwardBackwardRequest/);
  });
});
