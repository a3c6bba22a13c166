import { createCoordinator } from './coordinator.ts';

const coordinator = createCoordinator({ groupSize: 4 });
try {
  const { rewards, accepted, rejected } = await coordinator.collect();
  console.log('rewards', rewards.toArray());
  for (const { prompt, response, reward } of accepted) {
    console.log(`accepted ${reward?.toFixed(2)}: ${prompt} ${response}`);
  }
  for (const { prompt, response, reward } of rejected) {
    console.log(`rejected ${reward?.toFixed(2)}: ${prompt} ${response}`);
  }
} finally {
  coordinator.close();
}
