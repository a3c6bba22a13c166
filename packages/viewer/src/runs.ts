/** A page of training runs: curves, evaluations, differences, notes and samples. */
export { type Curve, thinned } from './run-page/curve.ts';
export { type RunsContent, type RunsPageOptions, runsPage } from './run-page/runs-page.ts';
export type { RunNote, RunSample, RunScore, RunsView, RunView } from './run-page/view.ts';
