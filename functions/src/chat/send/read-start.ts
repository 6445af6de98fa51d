import { isQuestionErased } from '../../../../shared/conversation/erase-turn.ts';
import type { Head, Versioned } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { decodeHead } from '../../../../shared/conversation/head.ts';
import { decodeJob, type CompactionJob } from '../../../../shared/conversation/job.ts';
import { isStillTold, knownJob, type KnownJob } from '../../../../shared/conversation/known-job.ts';
import { decodeMessageGuard } from '../../../../shared/conversation/message-guard.ts';
import {
  compactionJobPath,
  headPath,
  messageGuardPath,
  seqOfId,
} from '../../../../shared/conversation/paths.ts';
import { queueSeqs } from '../../../../shared/conversation/queue-decision.ts';
import {
  readContextParts,
  readTurnDocuments,
} from '../../../../shared/conversation/read-conversation.ts';
import type { StoredDocument } from '../../../../shared/ports.ts';
import type { ReplacingFacts, StartFacts } from '../../../../shared/conversation/start-decision.ts';
import type { Turn, TurnDocument } from '../../../../shared/conversation/turn.ts';
import {
  abandonedFields,
  type AbandonedTurn,
} from '../../../../shared/conversation/end-abandoned.ts';
import { decodeNotes, type Notes } from '../../../../shared/memory/note.ts';
import { notesPaths } from '../../memory-of.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { Replacing, SendRequest } from './send-request.ts';

/** Everything a start decides on. Two reads at most; that they fit together is what the batch's guards check. */
export interface StartState {
  facts: StartFacts;
  head: Versioned<Head> | undefined;
  known: TurnDocument | undefined;
  open: TurnDocument | undefined;
  /** The turns that `head.queue` spans, in order. */
  queue: readonly TurnDocument[];
  job: CompactionJob | undefined;
  /** What is remembered about the caller. */
  notes: Notes;
}

/** The turns among `seqs`, which nobody holds any more, as they were read. */
export const abandonedDocuments = (state: StartState, seqs: readonly number[]): TurnDocument[] =>
  [...new Map([state.open, ...state.queue].map((turn) => [turn?.value.seq, turn])).values()]
    .filter((turn) => turn !== undefined)
    .filter(({ value }) => seqs.includes(value.seq));

/** The same as a batch closes them. */
export const abandonedTurns = (state: StartState, seqs: readonly number[]): AbandonedTurn[] =>
  abandonedDocuments(state, seqs).map((turn) => abandonedFields(turn, state.facts.now));

/** What makes a request the same again. A regeneration has no text of its own to compare. */
const bodyHash = (sha256: (text: string) => string, { message, replacing }: SendRequest) => {
  const body = [message.parts, message.retention ?? 'normal'];
  if (!replacing) return sha256(JSON.stringify(body));
  const { kind, messageId } = replacing;
  return sha256(JSON.stringify([kind, messageId, ...(kind === 'edit' ? body : [])]));
};

/** The turn that is to be replaced, unless what it says is gone. */
function replacingFacts(replacing: Replacing, target: TurnDocument | undefined): ReplacingFacts {
  const { kind, messageId } = replacing;
  const isAnswer = seqOfId(messageId, 'm') !== undefined;
  const isGone = target === undefined || isQuestionErased(target.value);
  return { kind, isAnswer, target: isGone ? undefined : target.value };
}

/** What the job of the conversation tells: as it was read with the head, as this instance knows it, or read now. */
async function jobOf(
  { store, cache, clock }: Pick<ChatDependencies, 'store' | 'cache' | 'clock'>,
  of: { conversationId: string; head: Head | undefined; known: KnownJob | undefined },
  readWithHead: StoredDocument | undefined,
): Promise<CompactionJob | undefined> {
  const { conversationId, head, known } = of;
  if (!head) return undefined;
  if (known && isStillTold(known, head)) return known.job;
  const [readNow] = known ? await store.get([compactionJobPath(conversationId)]) : [];
  const document = known ? readNow : readWithHead;
  const job = document && decodeJob(document).value;
  const kept = knownJob(head, job, clock.now());
  if (kept) cache.keepJob(conversationId, kept);
  return job;
}

/**
 * One read of head, message guards, notes and, where this instance does not know it, the job; a second only when a turn
 * is known, open, queued or named, or the job has changed.
 */
export async function readStart(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'clock' | 'sha256' | 'config'>,
  request: SendRequest,
): Promise<StartState> {
  const { store, cache, clock, sha256 } = dependencies;
  const { conversationId, message, caller, replacing } = request;
  const namedSeq = replacing && seqOfId(replacing.messageId, 'm');
  const notesPath = notesPaths(dependencies.config, caller.uid);
  const keptJob = cache.job(conversationId);
  const jobPath = keptJob ? [] : [compactionJobPath(conversationId)];
  const [headDocument, guardDocument, ...rest] = await store.get([
    headPath(conversationId),
    messageGuardPath(conversationId, message.id),
    ...jobPath,
    ...notesPath,
    ...(replacing && namedSeq === undefined
      ? [messageGuardPath(conversationId, replacing.messageId)]
      : []),
  ]);
  const [jobDocument] = rest.slice(0, jobPath.length);
  const others = rest.slice(jobPath.length);
  const [notesDocument] = others.slice(0, notesPath.length);
  const [targetGuardDocument] = others.slice(notesPath.length);
  const head = headDocument && decodeHead(headDocument);
  const guard = guardDocument && decodeMessageGuard(guardDocument);
  const targetSeq =
    namedSeq ?? (targetGuardDocument && decodeMessageGuard(targetGuardDocument).seq);
  const queued = head ? queueSeqs(head.value) : [];
  const openSeq = head?.value.open?.seq;
  const seqs = [guard?.seq, openSeq, targetSeq, ...queued].filter((seq) => seq !== undefined);
  const ofJob = { conversationId, head: head?.value, known: keptJob };
  const [found, job] = await Promise.all([
    readTurnDocuments(store, conversationId, [...new Set(seqs)]),
    jobOf(dependencies, ofJob, jobDocument),
  ]);
  const turns = new Map(found.map((turn) => [turn?.value.seq, turn]));
  const known = guard && turns.get(guard.seq);
  const open = openSeq === undefined ? undefined : turns.get(openSeq);
  const queue = queued.map((seq) => turns.get(seq)).filter((turn) => turn !== undefined);
  const target = targetSeq === undefined ? undefined : turns.get(targetSeq);
  return {
    facts: {
      now: clock.now(),
      uid: caller.uid,
      bodyHash: request.isStored ? (guard?.bodyHash ?? '') : bodyHash(sha256, request),
      head: head?.value,
      guard,
      known: known?.value,
      open: open?.value,
      queue: queue.map(({ value }) => value),
      onBusy: request.onBusy,
      replacing: replacing && replacingFacts(replacing, target),
    },
    head,
    known,
    open,
    queue,
    job,
    notes: decodeNotes(notesDocument),
  };
}

/** The context before the turn `beforeSeq`, or undefined when the head moved on while it was read. */
export async function readContextBefore(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'signer' | 'logger'>,
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
