import { readPresent } from '#functions/context/continue-history.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import {
  decideCancel,
  type CancelDecision,
  CANCELLED_BY_USER,
} from '#shared/compaction/claim-decision.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  dropRequestWrites,
  jobAfterDrop,
  type DroppedRequest,
} from '#shared/conversation/writes/drop-request-writes.ts';
import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import { AppError } from '#shared/errors.ts';
import type { Caller, Write } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { readOwnConversation, type OwnConversation } from '../conversations/own-conversation.ts';
import { viewContext } from './view-context.ts';

const compactionNotFound = (conversationId: string, jobId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'COMPACTION_NOT_FOUND',
    message: `no compaction ${jobId} in ${conversationId}`,
    publicMessage:
      'The conversation has no such compaction, or it ended long ago. Look at the list of compactions.',
    metadata: { jobId },
  });

type CancelDependencies = Pick<
  ChatDependencies,
  'store' | 'cache' | 'logger' | 'clock' | 'config' | 'sha256'
>;

/** The batch that calls a queued compaction off, with what the owner's devices see then. */
async function dropWrites(
  dependencies: CancelDependencies,
  own: OwnConversation,
  { request }: Extract<CancelDecision, { kind: 'queued' }>,
): Promise<Write[]> {
  const { conversationId, conversation, job, jobUpdateTime } = own;
  const present = await readPresent(dependencies, {
    conversationId,
    conversation: conversation.value,
  });
  const { tokens } = present;
  const { generation } = conversation.value;
  const dropped: DroppedRequest = {
    conversationId,
    conversation,
    job: job && jobUpdateTime !== undefined ? { value: job, updateTime: jobUpdateTime } : 'missing',
    request,
    state: 'ABORTED',
    reason: CANCELLED_BY_USER,
    tokens,
    now: dependencies.clock.now(),
  };
  const { [request.kind]: _, ...compactionRequests } = conversation.value.compactionRequests;
  const view = {
    ...present,
    conversation: { ...conversation.value, compactionRequests },
    job: jobAfterDrop(dropped),
    locale: undefined,
  };
  // A person's own request says nothing of what the threshold asks for.
  const fields =
    request.kind === 'auto' ? { 'compactionRequests.declined': { tokens, generation } } : {};
  return [
    ...dropRequestWrites(dropped, { fields, frees: true }),
    await statusWrite(dependencies.store, conversationId, { ...viewContext(dependencies, view) }),
  ];
}

interface CancelledCompaction {
  jobId: string;
  state: string;
  cancelRequested?: true;
}

/** What to write, and what to answer once it is written. */
interface Cancellation {
  writes: Write[];
  result: CancelledCompaction;
}

async function cancellationOf(
  dependencies: CancelDependencies,
  own: OwnConversation,
  jobId: string,
): Promise<Cancellation> {
  const { conversationId, conversation, job } = own;
  const now = dependencies.clock.now();
  const decision = decideCancel({ conversation: conversation.value, job, jobId, now });
  switch (decision.kind) {
    case 'unknown':
      throw compactionNotFound(conversationId, jobId);
    case 'ended':
      return { writes: [], result: { jobId, state: decision.state } };
    case 'queued':
      return {
        writes: await dropWrites(dependencies, own, decision),
        result: { jobId, state: 'ABORTED' },
      };
    case 'running': {
      const cancellation: Write = {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { 'compactionRequests.cancel': jobId },
        guard: { updateTime: conversation.updateTime },
      };
      return {
        writes: decision.isTold ? [] : [cancellation],
        result: { jobId, state: 'RUNNING', cancelRequested: true },
      };
    }
  }
}

/**
 * Calls a compaction off. One that waits is dropped at once; one that runs is stopped by its worker within
 * about two seconds and ends as ABORTED, CANCELLED_BY_USER, unless it is being swapped in at this moment.
 * Nothing of the conversation changes. An automatic one comes back when the context has grown by what
 * re-arms it, or overflows. One that has ended is told as it ended.
 * Throws NOT_FOUND, COMPACTION_NOT_FOUND, GuardLostError when others won every try.
 */
export async function cancelCompaction(
  dependencies: CancelDependencies,
  target: { caller: Caller; conversationId: string; jobId: string },
): Promise<CancelledCompaction> {
  return retryWhenLost(dependencies.clock, async () => {
    const own = await readOwnConversation(dependencies, target);
    const { writes, result } = await cancellationOf(dependencies, own, target.jobId);
    if (writes.length > 0) await dependencies.store.commit(writes);
    return result;
  });
}
