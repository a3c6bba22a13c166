import assert from 'node:assert/strict';
import { test } from 'node:test';
import { near } from './rewards.ts';

test('near pays the more, the nearer a number is to the answer', () => {
  const task = { metadata: { answer: '12' } };
  assert.equal(near({ response: '12', task }), 1);
  assert.equal(near({ response: '15', task }), 0.25);
  assert.equal(near({ response: '', task }), 0);
  assert.equal(near({ response: 'twelve', task }), 0);
});
