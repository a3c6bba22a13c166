import { computeIntegratedRewards, processEpisodesWithQualityControl } from '@rlp/rewards';
import { createSystem, episodes, lenient, rewardConfig, strict } from './system.ts';

for (const [name, config] of Object.entries({ strict, lenient })) {
  const system = createSystem(config);
  try {
    const live = system.liveMetrics();
    const { rewards, accepted, rejected } = await system.processEpisodes(episodes);
    console.log(`${name}: rewards`, rewards.toArray(), rewards.shape, rewards.device, rewards.dtype);
    console.log(`  accepted ${accepted.map(({ id }) => id).join(', ')}`);
    for (const { id, reward, verificationMessage } of rejected) {
      console.log(`  rejected ${id}: reward ${reward?.toFixed(2)}, ${verificationMessage}`);
    }
    const combined = computeIntegratedRewards(
      accepted.map(({ reward }) => reward!),
      accepted.map(({ verificationScore }) => verificationScore!),
    );
    console.log('  reward and verification as one number:', combined);
    console.log('  quality:', system.getQualityMetrics([...accepted, ...rejected]));
    console.log('  live:', (await live.next()).value?.metrics['quality/accepted'], 'accepted');
  } finally {
    system.close();
  }
}

// A bar that follows the data: from the second batch on, half of what the first one reached.
const adaptive = createSystem({
  ...lenient,
  strictFiltering: true,
  adaptiveThresholds: { reward: { quantile: 0.5, warmup: 4 } },
});
for (let batch = 0; batch < 2; batch++) {
  const { minReward } = adaptive.thresholds;
  const { accepted } = await adaptive.processEpisodes(episodes);
  console.log(`adaptive, batch ${batch}: at least ${minReward.toFixed(3)}, ${accepted.length} accepted`);
}
adaptive.close();

// All at once, with the stock verifiers.
const { accepted, metrics } = await processEpisodesWithQualityControl(episodes, { rewardConfig });
console.log('stock verifiers accept', accepted.map(({ id }) => id).join(', '), metrics.verificationCounts);
