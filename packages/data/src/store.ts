/** Saves that survive crashes: complete directories, checksums, numbered checkpoints, one writer per directory. Needs Node. */
export {
  checksumFile,
  type VerifyOptions,
  verifyDirectory,
} from './store/checksums.ts';
export {
  type FileStatus,
  type FileSystem,
  type OpenFile,
  readText,
  writeFully,
} from './store/file-system.ts';
export { nodeHost, type StoreHost } from './store/host.ts';
export {
  DirectoryInUseError,
  directoryHolder,
  holdDirectory,
  type Lease,
  type LeaseHolder,
  releaseDirectory,
} from './store/lease.ts';
export {
  continueNumbered,
  newestNumbered,
  pointerFile,
  type SaveNumberedOptions,
  saveNumbered,
} from './store/numbered-checkpoints.ts';
export type { ProcessIdentity } from './store/process-identity.ts';
export { type RunVerification, verifyRun } from './store/verify-run.ts';
export { recoverDirectory, writeDirectory } from './store/write-directory.ts';
export { type FilePlan, writeFiles, writeTextFile } from './store/write-files.ts';
