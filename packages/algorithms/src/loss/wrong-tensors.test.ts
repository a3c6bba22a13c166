import { describe, expect, it } from 'vitest';
import { call, expectRefusal, overTensors, tensors } from '../wrong-arguments.fixture.ts';

describe.each(Object.entries(overTensors))('%s', (name, reads) => {
  const { given, numbers = [], optional = [], choices = {} } = reads;
  const [tape, inputs] = tensors(given);
  const shape = { power: 1, rate: 1 };
  const right = {
    ...Object.fromEntries(numbers.map((option) => [option, 0.5])),
    ...Object.fromEntries(Object.entries(choices).map(([option, names]) => [option, names[0]])),
    ...(name === 'gammaWeights' && { positive: shape, negative: shape }),
  };

  it('computes with what it asks for, and names the tensor that is missing', () => {
    expect(call(name, tape, inputs, right)).toBeDefined();
    expectRefusal(name, [{}, inputs, right], 'ops must be operations on tensors, such as new Tape()');
    expectRefusal(name, [tape], `expected an object with ${given.join(', ')}, got undefined`);
    for (const field of given)
      expectRefusal(
        name,
        [tape, { ...inputs, [field]: undefined }, right],
        `${field} must be given, got undefined`,
      );
  });

  it('names the option that is not a number, or not one of the names it knows', () => {
    for (const option of numbers)
      expectRefusal(name, [tape, inputs, { ...right, [option]: undefined }], `${option} must be a number`);
    for (const option of optional) {
      expectRefusal(name, [tape, inputs, { ...right, [option]: '1' }], `${option} must be a number, got "1"`);
      expect(call(name, tape, inputs, { ...right, [option]: undefined })).toBeDefined();
    }
    for (const [option, names] of Object.entries(choices)) {
      const message = `${option} must be one of ${names.join(', ')}, got "Other"`;
      expectRefusal(name, [tape, inputs, { ...right, [option]: 'Other' }], message);
    }
  });
});
