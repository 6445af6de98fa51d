import { decodeHead } from '../../../shared/conversation/head.ts';
import { headPath, usagePath } from '../../../shared/conversation/paths.ts';
import { sameHeadWrite } from '../../../shared/conversation/same-head-write.ts';
import { AppError } from '../../../shared/errors.ts';
import type {
  Clock,
  DocumentStore,
  Logger,
  Randomness,
  StoredDocument,
  Write,
} from '../../../shared/ports.ts';
import { dayOf } from '../../../shared/quota/day.ts';
import { isCounting } from '../../../shared/quota/limits.ts';
import { usageAfterWork } from '../../../shared/quota/settle.ts';
import { decodeUsage, type WorkName } from '../../../shared/quota/usage.ts';
import type { Config } from '../config.ts';
import { createBudget } from './budget.ts';
import { quotaSettings } from './quota-settings.ts';
import { usageWrite } from './usage-write.ts';
import { writeUsage } from './write-usage.ts';

interface SpendDependencies {
  config: Config;
  store: DocumentStore;
  clock: Clock;
  randomness: Randomness;
  logger: Logger;
}

/** What a piece of work that is no message cost its user. */
export interface WorkBill {
  work: WorkName;
  conversationId: string;
  ownerUid: string;
  /** Prompt and answers of all its calls, thoughts included. */
  tokens: number;
  /** Millionths of a US dollar; absent where no model reported what it took. */
  costMicros?: number | undefined;
}

/**
 * The write to the document of the day as it was read. One that is not there is created only below a user
 * whose conversation is live as it was read, so that none appears behind an erasure.
 */
function billWrites(
  of: { path: string; document: StoredDocument | undefined; head: StoredDocument | undefined },
  bill: WorkBill & { by: string },
  now: Date,
): Write[] | 'done' {
  const { path, document, head } = of;
  const { work, tokens, costMicros = 0, conversationId, by } = bill;
  const before = decodeUsage(document);
  if (before[work].by === by) return 'done';
  const usage = usageAfterWork(before, work, { tokens, costMicros, by });
  const write = usageWrite({ path, document }, usage, now);
  if (document) return [write];
  if (!head || decodeHead(head).value.state !== 'live') return [];
  return [write, sameHeadWrite(conversationId, head.updateTime)];
}

/**
 * Counts what a compaction, a title or a choice of the model cost, whatever came of it, into its user's dollars of the day and the
 * budget of all; it is no message and takes no tokens of the day. Never throws: what could not be counted is logged.
 */
export async function spendOnWork(dependencies: SpendDependencies, bill: WorkBill): Promise<void> {
  const { config, store, clock, logger } = dependencies;
  const settings = quotaSettings(config);
  const { conversationId, ownerUid, tokens, costMicros = 0 } = bill;
  if (!isCounting(settings) || tokens === 0) return;
  const day = dayOf(clock.now());
  const path = usagePath(ownerUid, day);
  const counted = { ...bill, by: dependencies.randomness.uuid() };
  const budget = createBudget(dependencies, settings.globalCostMicrosPerDay);
  try {
    await writeUsage(
      { store, clock, budget },
      {
        paths: [path, headPath(conversationId)],
        day,
        costMicros,
        change: ([document, head]) => billWrites({ path, document, head }, counted, clock.now()),
      },
    );
  } catch (error) {
    logger.log('WARNING', 'quota_not_settled', {
      conversationId,
      day,
      tokens,
      reason: error instanceof AppError ? error.reason : 'INTERNAL',
    });
  }
}
