/** A simulated disk that injects faults, and a table of crash points, to test savers. */
export { type CrashScenario, type CrashTable, crashTable, faults } from './crash-table.ts';
export { type Fault, SimulatedDisk } from './simulated-disk.ts';
export { storeScenarios } from './store-scenarios.ts';
