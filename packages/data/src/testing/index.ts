/** A simulated disk that injects faults, a table of crash points, and a local hub, for tests. */
export { type CrashScenario, type CrashTable, crashTable, faults } from './crash-table.ts';
export {
  type HubFault,
  type HubServer,
  type HubServerFiles,
  hubCommit,
  hubEtag,
  startHubServer,
} from './hub-server.ts';
export { type Fault, SimulatedDisk } from './simulated-disk.ts';
export { storeScenarios } from './store-scenarios.ts';
