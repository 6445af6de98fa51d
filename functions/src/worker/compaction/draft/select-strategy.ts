import { selectStrategyName } from '#functions/config/conversation-policy.ts';
import type { Run } from '../run.ts';
import { fallbackStrategy } from './fallback-strategy.ts';
import { ledgerStrategy } from './ledger/ledger-strategy.ts';
import { rewriteStrategy } from './rewrite/rewrite-strategy.ts';
import type { SnapshotStrategy } from './snapshot-strategy.ts';

/** The way in which the snapshots of a run's conversation are written. */

export function selectStrategy({
  dependencies,
  reading,
  isModelAllowed,
}: Pick<Run, 'dependencies' | 'reading' | 'isModelAllowed'>): SnapshotStrategy {
  if (!isModelAllowed) return fallbackStrategy;
  const strategies = { ledger: ledgerStrategy, rewrite: rewriteStrategy };
  return strategies[selectStrategyName(dependencies.config, reading.head.value)];
}
