/** A run in one folder: its files and their names. Needs Node. */
export { type RunFiles, runFiles } from './folder/run-files.ts';
