import { decodeHead, type Head, type Versioned } from '../../../shared/conversation/head.ts';
import type { History } from '../../../shared/conversation/history.ts';
import { decodeJob, type CompactionJob } from '../../../shared/conversation/job.ts';
import { contextTokens } from '../../../shared/conversation/meter.ts';
import { compactionJobPath, headPath } from '../../../shared/conversation/paths.ts';
import { firstTailSeq, readContextParts } from '../../../shared/conversation/read-conversation.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';
import { StoreUnavailableError } from '../../../shared/errors.ts';
import { policyOf } from '../conversation-policy.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import type { Reading } from './run.ts';

/** A load that misses a document reads the head again, this often. */
const READ_TRIES = 3;

type ReadDependencies = Pick<CompactionDependencies, 'store' | 'cache' | 'config'>;

export interface HeadAndJob {
  head: Versioned<Head> | undefined;
  job: Versioned<CompactionJob> | undefined;
}

/** Head and job in one round trip. */
export async function readHeadAndJob(
  { store }: Pick<ReadDependencies, 'store'>,
  conversationId: string,
): Promise<HeadAndJob> {
  const [head, job] = await store.get([
    headPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  return { head: head && decodeHead(head), job: job && decodeJob(job) };
}

/** The turns up to the first that is missing or not terminal: a fold names a range without holes. */
function withoutGap(turns: readonly Turn[], fromSeq: number): Turn[] {
  const gap = turns.findIndex(({ seq }, index) => seq !== fromSeq + index);
  return turns.slice(0, gap === -1 ? undefined : gap);
}

interface ContextParts {
  history: History | undefined;
  turns: Turn[];
}

async function readParts(
  dependencies: ReadDependencies,
  conversationId: string,
  head: Head,
): Promise<ContextParts | undefined> {
  const parts = await readContextParts(dependencies, { conversationId, head });
  // The document of a generation stands before the head names it; missing means the head is old.
  if (head.generation > 0 && parts.history === undefined) return undefined;
  return { history: parts.history, turns: withoutGap(parts.turns, firstTailSeq(head)) };
}

/**
 * The context that `found.head` names. Throws StoreUnavailableError when the documents do not fit
 * together after several tries.
 */
export async function readContext(
  dependencies: ReadDependencies,
  conversationId: string,
  found: { head: Versioned<Head>; job: Versioned<CompactionJob> | undefined },
): Promise<Reading> {
  let { head, job } = found;
  for (let tries = 1; tries <= READ_TRIES; tries++) {
    const parts = await readParts(dependencies, conversationId, head.value);
    if (parts) {
      const { tokens, source: tokensSource } = contextTokens({ head: head.value, ...parts });
      const policy = policyOf(dependencies.config, head.value);
      return { conversationId, head, job, policy, ...parts, tokens, tokensSource };
    }
    const again = await readHeadAndJob(dependencies, conversationId);
    head = again.head ?? head;
    job = again.job ?? job;
  }
  throw new StoreUnavailableError({
    operation: `reading generation ${head.value.generation} of ${conversationId}`,
  });
}
