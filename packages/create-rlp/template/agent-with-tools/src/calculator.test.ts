import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sumOf } from './calculator.ts';

test('the calculator adds, and says what it expects', () => {
  assert.equal(sumOf('17 + 5'), 22);
  assert.throws(() => sumOf('17*5'), /expected a sum such as 17\+5/);
});
