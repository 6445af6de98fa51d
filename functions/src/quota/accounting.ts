import type { Clock, DocumentStore, Randomness } from '#shared/ports/ports.ts';
import { createBudget, type Budget } from './budget.ts';
import { createUsageDocuments, type UsageDocuments } from './usage-documents.ts';

/** Where it is written what calls of models take: of their user, and of all users together. One for a process. */
export interface Accounting {
  usage: UsageDocuments;
  budget: Budget;
}

export const createAccounting = (dependencies: {
  store: Pick<DocumentStore, 'get' | 'commit' | 'sum'>;
  clock: Clock;
  randomness: Randomness;
}): Accounting => ({
  usage: createUsageDocuments(dependencies),
  budget: createBudget(dependencies),
});
