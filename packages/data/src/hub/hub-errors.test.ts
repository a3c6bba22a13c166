import { ArgumentError, FormatError, NetworkError, RlpError, TimeoutError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { hubError, isPassing } from './hub-errors.ts';
import { withEnvironment } from './hub-options.ts';

const options = withEnvironment({ attempts: 1, stallMs: 1, revision: 'main' } as never, {
  HF_HOME: '/home/hf',
});
const answered = (statusCode: number) => Object.assign(new Error('refused'), { statusCode });
const ofSystem = (code: string, rest: object) => Object.assign(new Error(code), { code, ...rest });
const offline = Object.assign(new TypeError('fetch failed', { cause: ofSystem('ENOTFOUND', {}) }), {
  code: 'ENOTFOUND',
});

describe('errors of the hub', () => {
  it.each([
    ['silence', new TimeoutError('no answer'), true],
    ['a wrong argument', new ArgumentError('no such file'), false],
    ['a busy hub', answered(429), true],
    ['a broken hub', answered(500), true],
    ['a missing repository', answered(404), false],
    ['an error just below those of servers', answered(499), false],
    ['no network', offline, true],
    ['a cut download', ofSystem('ECONNRESET', {}), true],
    ['a download that is too short', new Error('too short'), true],
    ['a full disk', ofSystem('ENOSPC', { path: '/a', syscall: 'write' }), false],
    ['a failed system call', ofSystem('EIO', { syscall: 'read' }), false],
    ['a file that may not be written', ofSystem('EACCES', { path: '/a' }), false],
  ])('tell whether %s may pass', (_, error, passes) => {
    expect(isPassing(error)).toBe(passes);
  });

  const repository = { type: 'dataset', name: 'owner/sums' } as const;
  it.each([
    ['no token', answered(401), /^the dataset owner\/sums of https:\/\/huggingface\.co .*HTTP 401.*HF_TOKEN/],
    ['no permission', answered(403), /is private or gated \(HTTP 403\): correct the name, or set HF_TOKEN/],
    ['a missing revision', answered(404), /has no revision "main" \(HTTP 404\)/],
    ['a full disk', ofSystem('ENOSPC', { path: '/a' }), /no space left .* in \/home\/hf\/hub: free some/],
    ['a full quota', ofSystem('EDQUOT', { path: '/a' }), /no space left/],
    ['no network', offline, /cannot be read: ENOTFOUND; check the network/],
    ['a broken hub', answered(502), /cannot be read: HTTP 502; check the network/],
  ])('say what to do about %s, with the cause', (_, error, message) => {
    const said = hubError(error, repository, options) as Error;
    expect(said).toBeInstanceOf(/cannot be read/.test(said.message) ? NetworkError : RlpError);
    expect(said.message).toMatch(message);
    expect(said.cause).toBe(error);
  });

  it('name the page of a gated repository to those who have a token', () => {
    const known = { ...options, accessToken: 'hf' };
    const remedy = (type: 'dataset' | 'model') =>
      (hubError(answered(403), { ...repository, type }, known) as Error).message;
    expect(remedy('dataset')).toContain('accept its terms at https://huggingface.co/datasets/owner/sums,');
    expect(remedy('model')).toContain('accept its terms at https://huggingface.co/owner/sums,');
  });

  it.each([
    [
      'a gated one',
      'GatedRepo',
      undefined,
      /owner\/sums of \S+ is gated \(HTTP 401\): accept its terms at \S+\/datasets\/owner\/sums, and set HF_TOKEN/,
    ],
    [
      'a gated one whose terms were not accepted',
      'GatedRepo',
      'hf_a',
      /is gated \(HTTP 401\): accept its terms at \S+, and use a token of that account/,
    ],
    [
      'one that the hub does not show',
      'RepoNotFound',
      undefined,
      /does not exist, or is private or gated \(HTTP 401\): correct the name, or set HF_TOKEN/,
    ],
    [
      'one with a token that is wrong',
      undefined,
      'hf_a',
      /does not exist, or the token is not valid \(HTTP 401\): correct the name or HF_TOKEN$/,
    ],
  ])('tell %s from other refusals', (_, code, accessToken, message) => {
    const said = hubError(answered(401), repository, { ...options, accessToken }, code) as Error;
    expect(said.message).toMatch(message);
  });

  it('stay as they are if they say what to do, or are about files', () => {
    const kept = [new FormatError('line 3: …'), ofSystem('EACCES', { path: '/a' })];
    for (const error of kept) expect(hubError(error, repository, options)).toBe(error);
    expect(hubError(new TimeoutError('no answer'), repository, options)).toBeInstanceOf(NetworkError);
  });
});
