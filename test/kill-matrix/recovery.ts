import { setTimeout as delay } from 'node:timers/promises';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { Documents } from '#lab/property/invariants/documents.ts';
import { writeJob } from '../support/compaction/past-compactions.ts';
import { pushEvent } from './push.ts';

/** With the waits between, more than any lease of a dead process lasts. */
const TRIES = 40;

/** Asks as a phone does: again, for as long as it is told to. */
export async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError) || !error.retryable || tries === TRIES) throw error;
      await delay(Math.min(error.retryAfterMs ?? 300, 1_000));
    }
  }
}

/** Whether something is still asked for. `declined` asks for nothing: it lets the next one wait. */
export const isRequestLeft = (compactionRequests: unknown): boolean =>
  Object.keys(Object(compactionRequests)).some((name) => name !== 'declined');

/** Delivers as Pub/Sub and the sweep do: again, until the living worker acknowledges and no request waits. */
export async function deliverAgain(
  worker: CompactionDependencies,
  data: object & { conversationId?: string },
): Promise<void> {
  const { conversationId } = data;
  for (let tries = 1; tries <= TRIES; tries++) {
    const { handled, answer } = pushEvent(worker, { id: 'again', data });
    await handled;
    const conversation =
      conversationId === undefined
        ? undefined
        : await readAnyConversation(worker.store, conversationId);
    const isLeft = isRequestLeft(conversation?.value.compactionRequests);
    if (answer()?.isAcknowledged === true && !isLeft) return;
    await delay(250);
  }
  throw new Error(`nobody acknowledges ${JSON.stringify(data)} for good`);
}

/** What is wrong with a conversation when all has recovered. */
export function problemsOf({ conversation, job, turns, histories }: Documents): string[] {
  const ids = turns.map(({ messageId }) => messageId);
  const problems = {
    'the conversation is not live': conversation?.state !== 'live',
    'a turn is open':
      conversation?.open !== undefined || turns.some(({ state }) => !isTerminal(state)),
    'turns are missing': turns.length !== conversation?.lastSeq,
    'a message has two turns': new Set(ids).size !== ids.length,
    'a need is left': isRequestLeft(conversation?.compactionRequests),
    'the lease is held': job !== undefined && job.owner !== '',
    'generations are missing':
      histories.map(({ generation }) => generation).join() !==
      Array.from({ length: conversation?.generation ?? 0 }, (_, i) => i + 1).join(),
    'something is left to erase': conversation?.pendingErasure !== undefined,
  };
  return Object.entries(problems).flatMap(([text, isWrong]) => (isWrong ? [text] : []));
}

/** What is wrong with a conversation that was to be compacted once. */
export function swapProblemsOf(documents: Documents): string[] {
  const { conversation, job } = documents;
  const records = job?.records.filter(({ generation }) => generation === 1) ?? [];
  return [
    ...problemsOf(documents),
    ...(conversation?.generation === 1 ? [] : [`the generation is ${conversation?.generation}`]),
    ...(records.length === 1 ? [] : [`the swap is recorded ${records.length} times`]),
  ];
}

/** As after three failures in a row: no model is asked, outputs are shortened. */
export const openBreaker = (store: DocumentStore, conversationId: string) =>
  writeJob(store, conversationId, {
    fence: 3,
    requestId: 'earlier',
    brake: {
      failures: 3,
      pause: { reason: 'BREAKER_OPEN', until: new Date(Date.now() + 600_000) },
    },
  });
