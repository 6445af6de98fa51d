import {
  decodeConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  baseTokens,
  readFoldingBase,
  type FoldingBase,
} from '#shared/conversation/context/find-history.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import {
  conversationPolicy,
  readAgainTokens,
  selectVariant,
} from '#functions/config/conversation-policy.ts';
import type { CompactionDependencies } from '../compaction-dependencies.ts';
import { memoryForPrompt, readNotes } from '#functions/memory/prompt-memory.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import type { ReadMemory, Reading } from '../run.ts';

/** A load that misses a document reads the conversation document again, this often. */
const READ_TRIES = 3;

type ReadDependencies = Pick<
  CompactionDependencies,
  'store' | 'cache' | 'logger' | 'config' | 'sha256'
>;

export interface ConversationAndJob {
  conversation: Versioned<Conversation> | undefined;
  job: Versioned<CompactionJob> | undefined;
}

/** Conversation and job in one round trip. */
export async function readConversationAndJob(
  { store }: Pick<ReadDependencies, 'store'>,
  conversationId: string,
): Promise<ConversationAndJob> {
  const [conversation, job] = await store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  return {
    conversation: conversation && decodeConversation(conversation),
    job: job && decodeJob(job),
  };
}

/** The turns up to the first that is missing or not terminal: a fold names a range without holes. */
function withoutGap(turns: readonly Turn[], fromSeq: number): Turn[] {
  const gap = turns.findIndex(({ seq }, index) => seq !== fromSeq + index);
  return turns.slice(0, gap === -1 ? undefined : gap);
}

async function readBase(
  dependencies: ReadDependencies,
  conversationId: string,
  conversation: Conversation,
): Promise<FoldingBase | undefined> {
  const forms = selectOutputForms(dependencies, conversation);
  const room = { readAgainTokens: readAgainTokens(dependencies.config, conversation), forms };
  const base = await readFoldingBase(dependencies, { conversationId, conversation }, room);
  return (
    base && { ...base, turns: withoutGap(base.turns, firstTailSeq({ ...conversation, ...base })) }
  );
}

/** What the prompts say of the owner's memory now, and once a swap has moved the newer notes up. */
async function readMemory(
  dependencies: ReadDependencies,
  conversation: Conversation,
): Promise<ReadMemory> {
  const { config } = dependencies;
  const notes = await readNotes(dependencies, conversation.ownerUid);
  const revision = Math.max(notes.revision, conversation.memoryRevision ?? 0);
  return {
    before: memoryForPrompt(config, { conversation, notes }).standing,
    after: memoryForPrompt(config, { conversation, notes, memoryRevision: revision }).standing,
    revision,
  };
}

/**
 * The context that the conversation document names, or what of it has to be read again. Throws StoreUnavailableError
 * when the documents do not fit together after several tries.
 */
export async function readContext(
  dependencies: ReadDependencies,
  conversationId: string,
  documents: { conversation: Versioned<Conversation>; job: Versioned<CompactionJob> | undefined },
): Promise<Reading> {
  let { conversation, job } = documents;
  // Nothing throws here: a base that is not there was swapped or erased meanwhile, so the conversation document is
  // read again.
  for (let tries = 1; tries <= READ_TRIES; tries++) {
    const [base, memory] = await Promise.all([
      readBase(dependencies, conversationId, conversation.value),
      readMemory(dependencies, conversation.value),
    ]);
    if (base) {
      const { present, ...folding } = base;
      const { tokens, source: tokensSource } = present;
      const foldedTokens = base.isReadAgain
        ? baseTokens(conversation.value, base, selectOutputForms(dependencies, conversation.value))
        : tokens;
      const policy = conversationPolicy(dependencies.config, conversation.value);
      const variant = selectVariant(dependencies.config, conversation.value)?.name;
      return {
        conversationId,
        conversation,
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
    const again = await readConversationAndJob(dependencies, conversationId);
    conversation = again.conversation ?? conversation;
    job = again.job ?? job;
  }
  throw new StoreUnavailableError({
    operation: `reading generation ${conversation.value.generation} of ${conversationId}`,
  });
}
