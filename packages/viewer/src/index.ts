export { type TrajectoryPageOptions, trajectoryPage } from './trajectory-page.ts';
