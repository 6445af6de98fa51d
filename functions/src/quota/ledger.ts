import type { Clock, DocumentStore, Randomness } from '#shared/ports/ports.ts';
import { createBudget, type Budget } from './budget.ts';
import { createUsageDocuments, type UsageDocuments } from './usage-documents.ts';

/** Where it is written what calls of models take: of their user, and of all users together. One for a process. */
export interface Ledger {
  usage: UsageDocuments;
  budget: Budget;
}

export const createLedger = (dependencies: {
  store: Pick<DocumentStore, 'get' | 'commit' | 'sum'>;
  clock: Clock;
  randomness: Randomness;
}): Ledger => ({
  usage: createUsageDocuments(dependencies),
  budget: createBudget(dependencies),
});
