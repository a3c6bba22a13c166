import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brief } from './rewards.ts';

test('brief pays for short answers, and not for empty ones', () => {
  assert.equal(brief({ response: '12' }), 1);
  assert.equal(brief({ response: '' }), 0);
  assert.equal(brief({ response: '1234' }), 0);
});
