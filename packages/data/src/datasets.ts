/** Datasets in files and folders. Needs Node. */
export { type LoadDatasetOptions, loadDataset } from './datasets/load-dataset.ts';
