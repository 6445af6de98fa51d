import type { ConversationTarget } from '../own-conversation.ts';
import { type Conversation, newConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { AppError, mayBeCommitted, StoreUnavailableError } from '#shared/lib/errors.ts';
import type { Caller, DocumentFields, Write } from '#shared/ports/ports.ts';
import { creationsOfFork } from '#shared/quota/reserve-decision.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** How often one batch is tried when the store does not answer. */
const COMMIT_TRIES = 5;

/** What a fork is a copy of. */
export interface ForkSource {
  conversationId: string;
  conversation: Conversation;
  /** The last turn that is copied. */
  seq: number;
  /** What the conversation document says of that turn as the newest one. */
  newest: Required<Pick<Conversation, 'asked' | 'answered'>>;
}

interface WantedFork extends ConversationTarget {
  source: ForkSource;
}

/** How the document of a fork was last seen. Its epoch is the nonce of the last batch. */
interface ForkVersion {
  epoch: string;
  updateTime: string;
}

/** The document of a fork that this request is making. */
export interface ForkTarget {
  conversationId: string;
  createTime: Date;
  /** Nonce of the last batch. */
  epoch(): string;
  /**
   * Commits what `build` returns together with the fork's document under its update time, and a new epoch as the batch's
   * nonce: a lost reply is found by it, and a second maker loses. Throws FORK_TAKEN_OVER, StoreUnavailableError, and
   * what `build` throws.
   */
  commit(batch: ForkBatch): Promise<void>;
}

interface ForkBatch {
  build: () => Promise<readonly Write[]>;
  fields?: DocumentFields;
}

/** One body for every conversation that the caller cannot go on with: an id must tell nothing. */
const idUnusable = () =>
  new AppError({
    reason: 'CONVERSATION_NOT_FOUND',
    publicMessage: 'No fork can be made under this `id`: it was used before. Draw a new id.',
    metadata: { field: 'id' },
  });

const isForkOf = (conversation: Conversation, source: ForkSource) =>
  conversation.forkedFrom?.conversationId === source.conversationId &&
  conversation.forkedFrom.seq === source.seq;

function forkingConversation(
  dependencies: ChatDependencies,
  caller: Caller,
  source: ForkSource,
): Conversation {
  const { randomness, clock } = dependencies;
  const { model, profile, systemInstruction } = source.conversation;
  return {
    ...newConversation({
      epoch: randomness.uuid(),
      ownerUid: caller.uid,
      model,
      profile,
      systemInstruction,
      now: clock.now(),
    }),
    state: 'forking',
    forkedFrom: { conversationId: source.conversationId, seq: source.seq },
  };
}

/**
 * Returns the conversation document that is there, or creates it, which counts as so many things made as it has
 * hundreds of turns.
 */
function readOrCreate(
  dependencies: ChatDependencies,
  { caller, conversationId, source }: WantedFork,
  conversation: Conversation,
): Promise<{ conversation: Conversation; updateTime: string }> {
  const { store, quota, clock } = dependencies;
  const path = conversationPath(conversationId);
  return retryWhenLost(clock, async () => {
    const found = await readConversation(store, conversationId);
    if (found) return { conversation: found.value, updateTime: found.updateTime };
    const counted = await quota.create(caller, creationsOfFork(source.seq));
    try {
      const [updateTime = ''] = await store.commit([
        { op: 'create', path, fields: { ...conversation } },
        ...counted,
      ]);
      return { conversation, updateTime };
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // It may stand all the same.
      const made = await readConversation(store, conversationId);
      if (!made) throw error;
      return { conversation: made.value, updateTime: made.updateTime };
    }
  });
}

/**
 * Makes the document of a fork one's own: a new one, or one that an earlier try of the same request left. From
 * here on that earlier try can write nothing. A fork that is finished is returned as it is.
 * Throws NOT_FOUND for an id of somebody else or of a conversation that was deleted, IDEMPOTENCY_KEY_REUSED
 * for another conversation of the caller, FORK_TAKEN_OVER, USER_DAILY_CREATIONS, ANONYMOUS_LIMIT.
 */
export async function claimFork(
  dependencies: ChatDependencies,
  fork: WantedFork,
): Promise<{ kind: 'claimed'; target: ForkTarget } | { kind: 'live'; conversation: Conversation }> {
  const { caller, conversationId, source } = fork;
  const drawn = forkingConversation(dependencies, caller, source);
  const { conversation, updateTime } = await readOrCreate(dependencies, fork, drawn);
  const version = { epoch: conversation.epoch, updateTime };
  const { createTime } = drawn;
  const target = createForkTarget(dependencies, { conversationId, createTime }, version);
  if (conversation.epoch === drawn.epoch) return { kind: 'claimed', target };
  const isTheirs = conversation.ownerUid === caller.uid;
  if (!isTheirs || (conversation.state !== 'live' && conversation.state !== 'forking'))
    throw idUnusable();
  if (!isForkOf(conversation, source))
    throw new AppError({
      reason: 'IDEMPOTENCY_KEY_REUSED',
      publicMessage: 'You have another conversation with this id. Choose a new id for the fork.',
      metadata: { id: conversationId },
    });
  if (conversation.state === 'live') return { kind: 'live', conversation };
  await target.commit({
    // The sweep takes forks away by their age.
    fields: { createTime },
    build: () => Promise.resolve([]),
  });
  return { kind: 'claimed', target };
}

function createForkTarget(
  dependencies: Pick<ChatDependencies, 'store' | 'randomness'>,
  fork: Pick<ForkTarget, 'conversationId' | 'createTime'>,
  found: ForkVersion,
): ForkTarget {
  const { conversationId } = fork;
  let version = found;
  return {
    ...fork,
    epoch: () => version.epoch,
    commit: async (batch) => {
      version = await commitOver(dependencies, { conversationId, version }, batch);
    },
  };
}

/** Commits a batch over one version of the fork's document, and returns the next one. Throws what `commit` throws. */
async function commitOver(
  { store, randomness }: Pick<ChatDependencies, 'store' | 'randomness'>,
  { conversationId, version }: { conversationId: string; version: ForkVersion },
  batch: ForkBatch,
): Promise<ForkVersion> {
  const epoch = randomness.uuid();
  // Not `retry`: after every failure, the last one too, the conversation document says who holds the fork.
  for (let tries = 1; ; tries++) {
    const writes = await batch.build();
    try {
      const [updateTime = ''] = await store.commit([
        {
          op: 'update',
          path: conversationPath(conversationId),
          fields: { ...batch.fields, epoch },
          guard: { updateTime: version.updateTime },
        },
        ...writes,
      ]);
      return { epoch, updateTime };
    } catch (error) {
      if (!mayBeCommitted(error)) throw error;
      const conversation = await readConversation(store, conversationId);
      if (conversation?.value.epoch === epoch)
        return { epoch, updateTime: conversation.updateTime };
      if (conversation?.value.epoch !== version.epoch)
        throw new AppError({
          reason: 'FORK_TAKEN_OVER',
          publicMessage: 'Another request is making this fork. Send the same request again.',
        });
      if (tries >= COMMIT_TRIES) throw error;
    }
  }
}
