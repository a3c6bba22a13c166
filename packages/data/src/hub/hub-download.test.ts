import { ArgumentError, TimeoutError } from '@rlp/core';
import { expect, it } from 'vitest';
import { persistently } from './hub-download.ts';

/** How often a download is tried that fails like this, and what came of it. */
async function triesOf(error: Error, controller = new AbortController(), onTry = () => {}) {
  let tries = 0;
  const work = () => {
    tries += 1;
    onTry();
    return Promise.reject(error);
  };
  const download = persistently('file', work, { attempts: 2, signal: controller.signal });
  await expect(download).rejects.toBe(error);
  return tries;
}

it('an error that will come again is not tried again', async () => {
  expect(await triesOf(new ArgumentError('no such file'))).toBe(1);
});

it('a download that was stopped is not tried again', async () => {
  const controller = new AbortController();
  const stop = () => controller.abort(new Error('stopped'));
  expect(await triesOf(new TimeoutError('no answer'), controller, stop)).toBe(1);
});
