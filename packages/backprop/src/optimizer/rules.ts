import type { Optimizer } from './options.ts';
import { adafactorRule } from './rules/adafactor.ts';
import { adamwRule } from './rules/adamw.ts';
import { lionRule } from './rules/lion.ts';
import { muonRule } from './rules/muon.ts';
import { scheduleFreeRule } from './rules/schedule-free.ts';
import { sgdRule } from './rules/sgd.ts';
import type { UpdateRule } from './update-rule.ts';

/** The graph of an optimizer's update. It computes AdamW with moments in 8 bits as AdamW. */
export function ruleOf(optimizer: Optimizer): UpdateRule {
  switch (optimizer.kind) {
    case 'lion':
      return lionRule(optimizer);
    case 'sgd':
      return sgdRule(optimizer);
    case 'adafactor':
      return adafactorRule(optimizer);
    case 'schedule-free':
      return scheduleFreeRule(optimizer);
    case 'muon':
      return muonRule(optimizer);
    default:
      return adamwRule(optimizer);
  }
}
