/** Takes the picture of a run's report: tsx --conditions=@rlp/source picture.ts runs/reward-hacking picture.png */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { ArmName, ArmRecord } from './arm.ts';
import { storyPage } from './record.ts';

const [run = 'runs/reward-hacking', path = join(run, 'report.png')] = process.argv.slice(2);
const records: Record<ArmName, ArmRecord> = JSON.parse(await readFile(join(run, 'held-out.json'), 'utf8'));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1000, height: 760 }, colorScheme: 'light' });
  await page.setContent(storyPage(new Map(Object.entries(records) as [ArmName, ArmRecord][])));
  await page.screenshot({ path });
} finally {
  await browser.close();
}
console.log(path);
