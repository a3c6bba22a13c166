/** Datasets in files, in folders and on the Hugging Face hub. Needs Node. */
export { type LoadDatasetOptions, loadDataset } from './datasets/load-dataset.ts';
export type { HubRepository } from './hub/hub-cache.ts';
export type { HubOptions } from './hub/hub-options.ts';
export { type HubFetching, type HubSnapshot, hubSnapshot } from './hub/hub-snapshot.ts';
