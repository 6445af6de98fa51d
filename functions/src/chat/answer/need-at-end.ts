import { needOfContext } from '../../../../shared/compaction/crossing.ts';
import type { CompactionNeeded } from '../../../../shared/conversation/head.ts';
import { contextTokens } from '../../../../shared/conversation/meter.ts';
import { readContextParts, readHead } from '../../../../shared/conversation/read-conversation.ts';
import { StoreUnavailableError } from '../../../../shared/errors.ts';
import type { FinishBatch } from '../../../../shared/conversation/turn-writes.ts';
import { policyOf } from '../../conversation-policy.ts';
import { outputFormsOf } from '../../output-forms.ts';
import type { BegunTurn } from '../send/begin-turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { finishedTurn } from './after-finish.ts';

/** What a finished turn asks for, and the state of the head that this holds for. */
export interface NeedAtEnd {
  need: CompactionNeeded['auto'];
  /** Only when the turn relies on a need that waits: it must still wait when the finish is committed. */
  headUpdateTime?: string | undefined;
}

/**
 * What becomes of a crossing that was measured with the head of the start (`batch.need`), at the end of
 * the turn. A need that waits is request enough: who settles it without a reason looks again. After a
 * swap in between the context is measured anew, with this turn. One read, and only by turns that crossed.
 */
export async function needAtEnd(
  dependencies: Pick<
    ChatDependencies,
    'store' | 'cache' | 'signer' | 'logger' | 'config' | 'sha256'
  >,
  begun: BegunTurn,
  batch: FinishBatch,
): Promise<NeedAtEnd> {
  if (!batch.need) return { need: undefined };
  try {
    return await measureAgain(dependencies, begun, { ...batch, need: batch.need });
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // Unknown: a request too many ends as NOOP, one too few would be missed, and the answer must be stored.
    return { need: batch.need };
  }
}

async function measureAgain(
  dependencies: Pick<
    ChatDependencies,
    'store' | 'cache' | 'signer' | 'logger' | 'config' | 'sha256'
  >,
  begun: BegunTurn,
  batch: FinishBatch & { need: NonNullable<FinishBatch['need']> },
): Promise<NeedAtEnd> {
  const { conversationId, seq, need } = batch;
  const head = await readHead(dependencies.store, conversationId);
  if (!head) return { need };
  const { compactionNeeded, generation } = head.value;
  if (compactionNeeded.auto) return { need: undefined, headUpdateTime: head.updateTime };
  if (generation === begun.head.generation) return { need };
  const toSeq = seq - 1;
  const parts = await readContextParts(dependencies, { conversationId, head: head.value, toSeq });
  const turns = [...parts.turns, finishedTurn({ begun, messageId: '' }, batch)];
  const forms = outputFormsOf(dependencies, head.value);
  const { tokens } = contextTokens({ head: head.value, history: parts.history, turns }, forms);
  return {
    need: needOfContext({
      head: head.value,
      history: parts.history,
      tokens,
      policy: policyOf(dependencies.config, head.value),
      requestId: need.requestId,
      now: need.since,
    }),
  };
}
