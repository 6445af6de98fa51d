import { decodeHead, type Head, type Versioned } from '#shared/conversation/documents/head.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, headPath } from '#shared/conversation/documents/paths.ts';
import {
  baseTokens,
  readFoldingBase,
  type FoldingBase,
} from '#shared/conversation/context/read-again.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import {
  conversationPolicy,
  readAgainTokens,
  selectVariant,
} from '#functions/config/conversation-policy.ts';
import type { CompactionDependencies } from '../compaction-dependencies.ts';
import { memoryForPrompt, readNotes } from '#functions/memory/select-memory.ts';
import { selectOutputForms } from '#functions/context/snapshot-rendering.ts';
import type { ReadMemory, Reading } from '../run.ts';

/** A load that misses a document reads the head again, this often. */
const READ_TRIES = 3;

type ReadDependencies = Pick<
  CompactionDependencies,
  'store' | 'cache' | 'signer' | 'logger' | 'config' | 'sha256'
>;

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

async function readBase(
  dependencies: ReadDependencies,
  conversationId: string,
  head: Head,
): Promise<FoldingBase | undefined> {
  const forms = selectOutputForms(dependencies, head);
  const room = { readAgainTokens: readAgainTokens(dependencies.config, head), forms };
  const base = await readFoldingBase(dependencies, { conversationId, head }, room);
  return base && { ...base, turns: withoutGap(base.turns, firstTailSeq({ ...head, ...base })) };
}

/** What the prompts say of the owner's memory now, and once a swap has moved the newer notes up. */
async function readMemory(dependencies: ReadDependencies, head: Head): Promise<ReadMemory> {
  const { config } = dependencies;
  const notes = await readNotes(dependencies, head.ownerUid);
  const revision = Math.max(notes.revision, head.memoryRevision ?? 0);
  return {
    before: memoryForPrompt(config, { head, notes }).standing,
    after: memoryForPrompt(config, { head, notes, memoryRevision: revision }).standing,
    revision,
  };
}

/**
 * The context that `found.head` names, or what of it has to be read again. Throws StoreUnavailableError when the documents do not fit
 * together after several tries.
 */
export async function readContext(
  dependencies: ReadDependencies,
  conversationId: string,
  found: { head: Versioned<Head>; job: Versioned<CompactionJob> | undefined },
): Promise<Reading> {
  let { head, job } = found;
  // Nothing throws here: a base that is not there was swapped or erased meanwhile, so the head is read again.
  for (let tries = 1; tries <= READ_TRIES; tries++) {
    const [base, memory] = await Promise.all([
      readBase(dependencies, conversationId, head.value),
      readMemory(dependencies, head.value),
    ]);
    if (base) {
      const { present, ...folding } = base;
      const { tokens, source: tokensSource } = present;
      const foldedTokens = base.isReadAgain
        ? baseTokens(head.value, base, selectOutputForms(dependencies, head.value))
        : tokens;
      const policy = conversationPolicy(dependencies.config, head.value);
      const variant = selectVariant(dependencies.config, head.value)?.name;
      return {
        conversationId,
        head,
        job,
        policy,
        ...folding,
        tokens,
        tokensSource,
        memory,
        foldedTokens,
        ...(variant !== undefined && { variant }),
      };
    }
    const again = await readHeadAndJob(dependencies, conversationId);
    head = again.head ?? head;
    job = again.job ?? job;
  }
  throw new StoreUnavailableError({
    operation: `reading generation ${head.value.generation} of ${conversationId}`,
  });
}
