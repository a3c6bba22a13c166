export { TabularBackend, type TabularOptions } from './tabular/backend.ts';
export { TabularSampler, type TabularSamplerDependencies } from './tabular/sampler.ts';
export { type Distribution, LogitsTable, type TabularShape } from './tabular/table.ts';
