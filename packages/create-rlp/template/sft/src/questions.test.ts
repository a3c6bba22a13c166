import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { problemOf, type Question } from './questions.ts';

const lines = readFileSync('data/questions.jsonl', 'utf8').trim().split('\n');

test('every row is fit to be imitated', () => {
  for (const [at, line] of lines.entries()) {
    assert.equal(problemOf(JSON.parse(line) as Question), undefined, `row ${at + 1}`);
  }
});

test('empty and long answers are found', () => {
  assert.equal(problemOf({ question: '1+1=', answer: ' ' }), 'the answer is empty');
  assert.equal(problemOf({ question: '1+1=', answer: '2222' }), 'the answer is longer than three characters');
});
