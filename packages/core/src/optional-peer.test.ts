import { describe, expect, it } from 'vitest';
import { importPeer, MissingPeerError, missingPeer, requirePeer } from './optional-peer.ts';

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

it.each([
  ["Cannot find package 'eld' imported from /app/main.js", 'Node.js'],
  ["Failed to resolve module specifier 'eld/small'", 'Chromium'],
  ['The specifier “eld/small” was a bare specifier, but was not remapped to anything.', 'Firefox'],
  ["Module name, 'eld/small' does not resolve to a valid URL.", 'Safari'],
  ['No such module "eld/small".', 'Workers'],
  ["Cannot find module 'eld/small'", 'webpack'],
  ['Could not resolve "eld/small" imported by "@rlp/rewards". Is it installed?', 'Vite'],
])('knows a missing peer by the words %s of %s', (message) => {
  expect(missingPeer('LanguageVerifier', 'eld', new TypeError(message))).toBeInstanceOf(MissingPeerError);
  expect(missingPeer('LanguageVerifier', 'el', new TypeError(message))).toBeInstanceOf(TypeError);
});

describe('requirePeer', () => {
  const installed =
    (...names: readonly string[]) =>
    (specifier: string) => {
      if (!names.includes(specifier)) throw missing(specifier);
      return `file:///app/node_modules/${specifier}`;
    };
  const withOldExports = (specifier: string) => {
    if (specifier === 'eld')
      throw new Error("Package subpath '.' is not defined by exports in eld/package.json");
    return `file:///app/node_modules/${specifier}`;
  };
  /** A page whose import map names `@rlp/rewards` alone. What that imports has addresses of its own. */
  const inPage = (specifier: string) => {
    if (specifier !== '@rlp/rewards')
      throw new TypeError(`Failed to resolve module specifier '${specifier}'`);
    return 'https://cdn.example/rewards.js';
  };
  const required = (resolve: Parameters<typeof requirePeer>[3]) => () =>
    requirePeer('LanguageVerifier', 'eld', '@rlp/rewards', resolve);

  it('throws before the import if the package is not installed', () => {
    const message = 'LanguageVerifier needs the package eld: npm install eld';
    expect(required(installed('@rlp/rewards'))).toThrow(new MissingPeerError(message));
    expect(required(installed('@rlp/rewards', 'eld'))).not.toThrow();
  });

  it.each([
    ['in a bundle', installed()],
    ['in a page', inPage],
    ['without import.meta.resolve', undefined],
    ['if it fails for another reason', withOldExports],
  ])('leaves it to the import %s', (_, resolve) => {
    expect(required(resolve)).not.toThrow();
  });
});
