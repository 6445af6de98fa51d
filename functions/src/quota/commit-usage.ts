import { mayBeCommitted } from '#shared/errors.ts';
import type { Clock, DocumentStore, StoredDocument, Write } from '#shared/ports/ports.ts';
import { retry } from '../lib/retry.ts';
import type { Budget } from './budget.ts';
import { encodeUsage, type Usage } from '#shared/quota/usage.ts';

/** A user's document of a day as it becomes, guarded by how it was read. */
export const usageWrite = (
  input: { path: string; document: StoredDocument | undefined },
  usage: Usage,
  now: Date,
): Write => {
  const { path, document } = input;
  const expireTime = document?.fields['expireTime'];
  // The figures that an erasure has left go earlier than others, whatever is counted after it.
  const fields = { ...encodeUsage(usage, now), ...(expireTime instanceof Date && { expireTime }) };
  return document
    ? { op: 'update', path, fields, guard: { updateTime: document.updateTime } }
    : { op: 'create', path, fields };
};

/** So often a cost is written again when others write to the same documents, and the waits between, ms. */
const TRIES = 12;
const RETRY_MS = 10;
const RETRY_MAX_MS = 200;

/** What is to be added to a user's document of a day and to the budget of that day. */
interface UsageChange {
  /** What `change` looks at. */
  paths: readonly string[];
  day: string;
  /** For the budget of all; 0: the budget stays. */
  costMicros: number;
  /**
   * The writes to the documents as they were read, or 'done': an earlier try was applied though its reply
   * was lost. None: there is nothing to change, only the budget.
   */
  change: (documents: readonly (StoredDocument | undefined)[]) => Write[] | 'done';
}

/**
 * Runs `write` until it neither loses its guards nor misses its reply: from the second time on, an earlier try may have
 * been applied. Throws what the last try throws.
 */
export async function writeGuarded<T>(
  clock: Pick<Clock, 'wait'>,
  write: () => Promise<T>,
): Promise<T> {
  return retry(write, {
    mostTries: TRIES,
    isRetryable: mayBeCommitted,
    beforeNext: (tries) => clock.wait(Math.min(RETRY_MAX_MS, RETRY_MS * tries)),
  });
}

/** Adds it, under the update time of what was read. Throws GuardLostError when others won every try. */
export async function commitUsage(
  dependencies: { store: Pick<DocumentStore, 'get' | 'commit'>; clock: Clock; budget: Budget },
  { paths, day, costMicros, change }: UsageChange,
): Promise<void> {
  const { store, clock, budget } = dependencies;
  const part = budget.isLimited && costMicros > 0 ? budget.take(day, costMicros) : undefined;
  try {
    await writeGuarded(clock, async () => {
      const documents = await store.get([...paths, ...(part ? [part.path] : [])]);
      const changed = change(documents);
      if (changed === 'done') return;
      const added = part ? [budget.write(part, documents[paths.length])] : [];
      const writes = [...changed, ...added];
      if (writes.length > 0) await store.commit(writes);
    });
  } catch (error) {
    if (part) budget.giveBack(part);
    throw error;
  }
}
