import type { Head, Versioned } from '../../../shared/conversation/head.ts';
import type { History } from '../../../shared/conversation/history.ts';
import { decodeHead } from '../../../shared/conversation/head.ts';
import { decodeJob, type CompactionJob } from '../../../shared/conversation/job.ts';
import { decodeMessageGuard } from '../../../shared/conversation/message-guard.ts';
import {
  compactionJobPath,
  headPath,
  messageGuardPath,
  turnPath,
} from '../../../shared/conversation/paths.ts';
import { readContextParts } from '../../../shared/conversation/read-conversation.ts';
import type { StartFacts } from '../../../shared/conversation/start-decision.ts';
import {
  readTurnDocument,
  type Turn,
  type TurnDocument,
} from '../../../shared/conversation/turn.ts';
import type { DocumentStore } from '../../../shared/ports.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import type { SendRequest } from './send-request.ts';

/** Everything a start decides on. Two reads at most; that they fit together is what the batch's guards check. */
export interface StartState {
  facts: StartFacts;
  head: Versioned<Head> | undefined;
  known: TurnDocument | undefined;
  open: TurnDocument | undefined;
  job: CompactionJob | undefined;
}

async function readTurnDocuments(
  store: Pick<DocumentStore, 'get'>,
  conversationId: string,
  seqs: readonly (number | undefined)[],
): Promise<(TurnDocument | undefined)[]> {
  const wanted = [...new Set(seqs.filter((seq) => seq !== undefined))];
  if (wanted.length === 0) return seqs.map(() => undefined);
  const documents = await store.get(wanted.map((seq) => turnPath(conversationId, seq)));
  const bySeq = new Map(
    documents.flatMap((document, i) =>
      document ? [[wanted[i], readTurnDocument(conversationId, document)] as const] : [],
    ),
  );
  return seqs.map((seq) => bySeq.get(seq));
}

export const bodyHash = (sha256: (text: string) => string, request: SendRequest) =>
  sha256(JSON.stringify([request.message.parts, request.message.retention ?? 'normal']));

/** One read of head, message guard and job; a second only when a turn is known or open. */
export async function readStart(
  dependencies: Pick<ChatDependencies, 'store' | 'clock' | 'sha256'>,
  request: SendRequest,
): Promise<StartState> {
  const { store, clock, sha256 } = dependencies;
  const { conversationId, message, caller } = request;
  const [headDocument, guardDocument, jobDocument] = await store.get([
    headPath(conversationId),
    messageGuardPath(conversationId, message.id),
    compactionJobPath(conversationId),
  ]);
  const head = headDocument && decodeHead(headDocument);
  const guard = guardDocument && decodeMessageGuard(guardDocument);
  const [known, open] = await readTurnDocuments(store, conversationId, [
    guard?.seq,
    head?.value.open?.seq,
  ]);
  return {
    facts: {
      now: clock.now(),
      uid: caller.uid,
      bodyHash: bodyHash(sha256, request),
      head: head?.value,
      guard,
      known: known?.value,
      open: open?.value,
    },
    head,
    known,
    open,
    job: jobDocument && decodeJob(jobDocument).value,
  };
}

/** The context before the turn `beforeSeq`, or undefined when the head moved on while it was read. */
export async function readContextBefore(
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>,
  target: { conversationId: string; head: Head; beforeSeq: number },
): Promise<{ history: History | undefined; turns: Turn[] } | undefined> {
  const { conversationId, head, beforeSeq } = target;
  const parts = await readContextParts(dependencies, {
    conversationId,
    head,
    toSeq: beforeSeq - 1,
  });
  const isMissing = head.generation > 0 && parts.history === undefined;
  return isMissing ? undefined : parts;
}
