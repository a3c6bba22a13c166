import { expect, it } from 'vitest';
import { importPeer, MissingPeerError } from './optional-peer.ts';

const missing = (name: string) =>
  Object.assign(new Error(`Cannot find package '${name}' imported from here`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });

it('returns an installed peer', async () => {
  expect(await importPeer('owner', 'peer', async () => 7)).toBe(7);
});

it('names the owner and the install command of a missing peer', async () => {
  const peer = importPeer('LanguageVerifier', 'eld', () => Promise.reject(missing('eld')));
  await expect(peer).rejects.toThrow(
    new MissingPeerError('LanguageVerifier needs the package eld: npm install eld'),
  );
});

it('passes other failures on, such as a missing dependency of the peer', async () => {
  const other = missing('dependency-of-eld');
  await expect(importPeer('owner', 'eld', () => Promise.reject(other))).rejects.toBe(other);
});
