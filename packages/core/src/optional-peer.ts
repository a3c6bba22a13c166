import { RlpError } from './errors.ts';

/** An optional peer dependency is not installed. The message has the install command. */
export class MissingPeerError extends RlpError {
  override readonly name = 'MissingPeerError';
}

/**
 * Imports an optional peer dependency.
 *
 *     const { eld } = await importPeer('LanguageVerifier', 'eld', () => import('eld/small'));
 *
 * @throws {@link MissingPeerError} naming `owner` and the install command, if the package is not installed.
 */
export async function importPeer<Module>(
  owner: string,
  packageName: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
    if (code !== 'ERR_MODULE_NOT_FOUND' || !String(message).includes(`'${packageName}'`)) throw cause;
    throw new MissingPeerError(`${owner} needs the package ${packageName}: npm install ${packageName}`, {
      cause,
    });
  }
}
