import { RlpError } from './errors.ts';

/** An optional peer dependency is not installed. The message has the install command. */
export class MissingPeerError extends RlpError {
  override readonly name = 'MissingPeerError';
}

/**
 * Imports an optional peer dependency.
 *
 *     const { createJiti } = await importPeer('a configuration in TypeScript', 'jiti', () => import('jiti'));
 *
 * Code that runs in pages calls `import` within its own `try` and throws {@link missingPeer}. Only then do bundlers go on without a
 * package that is not installed.
 *
 * @throws MissingPeerError naming `owner` and the install command, if the package is not installed.
 */
export async function importPeer<Module>(
  owner: string,
  packageName: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw missingPeer(owner, packageName, cause);
  }
}

/**
 * Checks that an optional peer dependency is installed. For constructors of what imports it later.
 *
 *     requirePeer('LanguageVerifier', 'eld', '@rlp/rewards', import.meta.resolve);
 *
 * It passes where this cannot be known: in a bundle or a page, which may get the package elsewhere, and in a runtime without
 * `import.meta.resolve`.
 *
 * @param self - Package of the caller. It is a file only where packages are installed.
 * @throws MissingPeerError naming `owner` and the install command, if the package is not installed.
 */
export function requirePeer(
  owner: string,
  packageName: string,
  self: string,
  resolve: ((specifier: string) => string) | undefined,
): void {
  try {
    if (!resolve?.(self).startsWith('file:')) return;
  } catch {
    return;
  }
  try {
    resolve(packageName);
  } catch (cause) {
    const failure = missingPeer(owner, packageName, cause);
    if (failure instanceof MissingPeerError) throw failure;
  }
}

/**
 * What to throw after the import of an optional peer dependency failed: a {@link MissingPeerError} naming `owner` and the install command
 * if the package is not installed, else `cause` itself.
 *
 *     try {
 *       ({ eld } = await import('eld/small'));
 *     } catch (cause) {
 *       throw missingPeer('LanguageVerifier', 'eld', cause);
 *     }
 */
export function missingPeer(owner: string, packageName: string, cause: unknown): unknown {
  const message = cause instanceof Error ? cause.message : '';
  // How Node, bundlers, Chromium, Firefox, Safari and Workers say it.
  const isMissing = /(find (module|package)|resolve|bare specifier|no such module)/i.test(message);
  const [, named] = /['"“]((?:@[^/'"”]+\/)?[^/'"”]+)/.exec(message) ?? [];
  if (!isMissing || named !== packageName) return cause;
  return new MissingPeerError(`${owner} needs the package ${packageName}: npm install ${packageName}`, {
    cause,
  });
}
