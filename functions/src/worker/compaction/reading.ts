import type { CommonDependencies } from '#functions/common-dependencies.ts';
import {
  conversationPolicy,
  readAgainTokens,
  selectVariant,
} from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import { memoryForPrompt, readNotes } from '#functions/memory/prompt-memory.ts';
import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import {
  foldSourceTokens,
  readFoldSource,
  type FoldSource,
} from '#shared/conversation/context/find-history.ts';
import type { MemoryTexts } from '#shared/conversation/context/memory-texts.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import {
  decodeConversation,
  type Conversation,
  type CoveredThrough,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';

/** The owner's memory as the prefix shows it, and as it will after a swap. */
interface ReadMemory {
  before: MemoryTexts;
  after: MemoryTexts;
  /** Up to which notes stand in `after`. */
  revision: number;
}

/**
 * One consistent reading of a conversation: the conversation document, its job, and the context that the conversation
 * document names.
 */
export interface Reading {
  conversationId: string;
  conversation: Versioned<Conversation>;
  job: Versioned<CompactionJob> | undefined;
  policy: CompactionPolicy;
  /** What the run starts from: of the present generation, unless turns are read again. */
  history: History | undefined;
  /** How far `history` stands in for turns. */
  coveredThrough: CoveredThrough;
  /** `history` is an earlier one, or none: the present one cannot go on, or lost statements. */
  isReadAgain: boolean;
  /** Terminal turns behind `history` in order, without a gap. */
  turns: Turn[];
  /** Tokens of the context now, and who counted them. */
  tokens: number;
  tokensSource: ContextObject['source'];
  memory: ReadMemory;
  /** Estimated tokens of what `history` and `turns` make; more than `tokens` where turns are read again. */
  sourceTokens: number;
  /** Which settings of a comparison it has; absent where none is made. */
  variant?: string;
}

interface ConversationAndJob {
  conversation: Versioned<Conversation> | undefined;
  job: Versioned<CompactionJob> | undefined;
}

/** Conversation and job in one round trip. */
export async function readConversationAndJob(
  { store }: Pick<CommonDependencies, 'store'>,
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

/** A load that misses a document reads the conversation document again, this often. */
const READ_TRIES = 3;

/**
 * The context that the conversation document names, or what of it has to be read again. Throws StoreUnavailableError
 * when the documents do not fit together after several tries.
 */
export async function readForCompaction(
  dependencies: CommonDependencies,
  conversationId: string,
  documents: { conversation: Versioned<Conversation>; job: Versioned<CompactionJob> | undefined },
): Promise<Reading> {
  let { conversation, job } = documents;
  // Where the document of the generation is missing, it was swapped or erased meanwhile: the conversation document is read
  // again.
  for (let tries = 1; tries <= READ_TRIES; tries++) {
    const [source, memory] = await Promise.all([
      readSource(dependencies, conversationId, conversation.value),
      readMemory(dependencies, conversation.value),
    ]);
    if (source)
      return toReading(dependencies, { conversationId, conversation, job, source, memory });
    const newer = await readConversationAndJob(dependencies, conversationId);
    conversation = newer.conversation ?? conversation;
    job = newer.job ?? job;
  }
  throw new StoreUnavailableError({
    operation: `reading generation ${conversation.value.generation} of ${conversationId}`,
  });
}

function toReading(
  dependencies: CommonDependencies,
  documents: Pick<Reading, 'conversationId' | 'conversation' | 'job' | 'memory'> & {
    source: FoldSource;
  },
): Reading {
  const { conversationId, conversation, job, memory, source } = documents;
  const { history, coveredThrough, isReadAgain, turns, present } = source;
  const { config } = dependencies;
  const forms = selectOutputForms(dependencies, conversation.value);
  const variant = selectVariant(config, conversation.value)?.name;
  return {
    conversationId,
    conversation,
    job,
    policy: conversationPolicy(config, conversation.value),
    history,
    coveredThrough,
    isReadAgain,
    turns,
    tokens: present.tokens,
    tokensSource: present.source,
    memory,
    sourceTokens: isReadAgain
      ? foldSourceTokens(conversation.value, source, forms)
      : present.tokens,
    ...(variant !== undefined && { variant }),
  };
}

async function readSource(
  dependencies: CommonDependencies,
  conversationId: string,
  conversation: Conversation,
): Promise<FoldSource | undefined> {
  const forms = selectOutputForms(dependencies, conversation);
  const room = { readAgainTokens: readAgainTokens(dependencies.config, conversation), forms };
  const source = await readFoldSource(dependencies, { conversationId, conversation }, room);
  return (
    source && {
      ...source,
      turns: withoutGap(source.turns, firstTailSeq({ ...conversation, ...source })),
    }
  );
}

/** The turns up to the first that is missing or not terminal: a fold names a range without holes. */
function withoutGap(turns: readonly Turn[], fromSeq: number): Turn[] {
  const gap = turns.findIndex(({ seq }, index) => seq !== fromSeq + index);
  return turns.slice(0, gap === -1 ? undefined : gap);
}

/** What the prompts say of the owner's memory now, and once a swap has moved the newer notes up. */
async function readMemory(
  dependencies: CommonDependencies,
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
