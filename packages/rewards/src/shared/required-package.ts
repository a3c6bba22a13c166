import { requirePeer } from '@rlp/core';

/** Checks that a package is installed that `owner` imports later. @throws MissingPeerError with the install command. */
export const requirePackage = (owner: string, name: 'eld' | 'obscenity') =>
  requirePeer(owner, name, '@rlp/rewards', import.meta.resolve);
