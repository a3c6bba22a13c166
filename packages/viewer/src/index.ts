export { parseRecords } from './parse-records.ts';
export { type TrajectoryPageOptions, trajectoryPage } from './trajectory-page.ts';
