import {
  newConversation,
  type Conversation,
  type Versioned,
  decodeConversation,
} from '#shared/conversation/documents/conversation.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { notesPaths } from '#functions/memory/prompt-memory.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import {
  type KnownJob,
  isStillTold,
  knownJob,
  type CompactionJob,
  decodeJob,
} from '#shared/conversation/documents/job.ts';
import {
  queueSeqs,
  type ReplacingFacts,
  type StartFacts,
} from '#shared/conversation/start-decision.ts';
import {
  decodeMessageGuard,
  type TurnDocument,
  readTurnDocument,
} from '#shared/conversation/documents/turn.ts';
import {
  compactionJobPath,
  conversationPath,
  messageGuardPath,
  seqOfId,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import { problemText } from '#shared/conversation/documents/read-document.ts';
import {
  type AbandonedTurn,
  abandonedFields,
} from '#shared/conversation/writes/abandoned-turns.ts';
import { isQuestionErased } from '#shared/conversation/writes/erase-turn.ts';
import { type Notes, decodeNotes } from '#shared/memory/note.ts';
import { encodeAnswerOptions } from '#shared/models/answer-options.ts';
import type { Caller, StoredDocument } from '#shared/ports/ports.ts';
import { liveSeqs } from '../live-turn.ts';
import type { Replacing, SendRequest } from '../send/send-request.ts';

/** Everything a start decides on, from two reads at most. The guards of the batch check that both are of one moment. */
export interface StartState {
  facts: StartFacts;
  conversation: Versioned<Conversation> | undefined;
  known: TurnDocument | undefined;
  open: TurnDocument | undefined;
  /** The turns that `conversation.queue` spans, in order. */
  queue: readonly TurnDocument[];
  job: CompactionJob | undefined;
  /** What is remembered about the caller. */
  notes: Notes;
}

/** The turn of the message, for a decision that names it. */
export function knownTurn({ known }: StartState): TurnDocument {
  if (!known) throw new Error('the decision names a turn that was not read');
  return known;
}

/** The conversation document, for a decision that no first message gets. */
export function storedConversation({ conversation }: StartState): Versioned<Conversation> {
  if (!conversation) throw new Error('the decision names a conversation that was not read');
  return conversation;
}

/** The turns among `seqs`, as they were read. */
export const turnsToClose = (state: StartState, seqs: readonly number[]): TurnDocument[] =>
  [...new Map([state.open, ...state.queue].map((turn) => [turn?.value.seq, turn])).values()]
    .filter((turn) => turn !== undefined)
    .filter(({ value }) => seqs.includes(value.seq));

/** The turns among `seqs`, as a batch closes them. */
export const abandonedTurns = (state: StartState, seqs: readonly number[]): AbandonedTurn[] =>
  turnsToClose(state, seqs).map((turn) => abandonedFields(turn, state.facts.now));

/** Two requests with one message id are the same if this is equal. A regeneration has no text of its own to compare. */
export const bodyHash = (
  sha256: (text: string) => string,
  request: Pick<SendRequest, 'message' | 'replacing' | 'options'>,
) => {
  const { message, replacing } = request;
  const options = encodeAnswerOptions(request.options);
  const body = [
    message.parts,
    message.retention ?? 'normal',
    ...(options === undefined ? [] : [options]),
  ];
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

/**
 * The compaction job: as this instance knows it where that still holds, else as it was read with the conversation
 * document or is read now.
 */
async function jobOf(
  { store, cache, clock }: Pick<ChatDependencies, 'store' | 'cache' | 'clock'>,
  target: {
    conversationId: string;
    conversation: Conversation | undefined;
    known: KnownJob | undefined;
  },
  readWithConversation: StoredDocument | undefined,
): Promise<CompactionJob | undefined> {
  const { conversationId, conversation, known } = target;
  if (!conversation) return undefined;
  if (known && isStillTold(known, conversation)) return known.job;
  const [readNow] = known ? await store.get([compactionJobPath(conversationId)]) : [];
  const document = known ? readNow : readWithConversation;
  const job = document && decodeJob(document).value;
  const kept = knownJob(conversation, job, clock.now());
  if (kept) cache.keepJob(conversationId, kept);
  return job;
}

type ReadDependencies = Pick<
  ChatDependencies,
  'store' | 'cache' | 'clock' | 'sha256' | 'config' | 'liveTurns' | 'logger'
>;

/** The first read: all documents whose paths the request and this instance's memory give. */
async function readFirst(dependencies: ReadDependencies, request: SendRequest, knowsJob: boolean) {
  const { conversationId, message, caller, replacing } = request;
  const documentPath = conversationPath(conversationId);
  const guardPath = messageGuardPath(conversationId, message.id);
  const jobPath = compactionJobPath(conversationId);
  const memoryPaths = notesPaths(dependencies.config, caller.uid);
  const namedSeq = replacing && seqOfId(replacing.messageId, 'm');
  const targetPaths =
    replacing && namedSeq === undefined
      ? [messageGuardPath(conversationId, replacing.messageId)]
      : [];
  // Also the turns that this instance is answering, so that a second sender needs no second read.
  const livePaths = liveSeqs(dependencies.liveTurns, conversationId).map((seq) =>
    turnPath(conversationId, seq),
  );
  const read = await dependencies.store.get([
    documentPath,
    guardPath,
    ...(knowsJob ? [] : [jobPath]),
    ...memoryPaths,
    ...targetPaths,
    ...livePaths,
  ]);
  const documents = new Map(read.map((document) => [document?.path, document]));
  const found = (paths: readonly string[]) => paths.flatMap((path) => documents.get(path) ?? []);
  const conversation = documents.get(documentPath);
  const guard = documents.get(guardPath);
  const [targetGuard] = found(targetPaths);
  const [notes] = found(memoryPaths);
  return {
    conversation: conversation && decodeConversation(conversation),
    guard: guard && decodeMessageGuard(guard),
    job: documents.get(jobPath),
    notes: decodeNotes(notes),
    targetSeq: namedSeq ?? (targetGuard && decodeMessageGuard(targetGuard).seq),
    live: found(livePaths).map((turn) => readTurnDocument(conversationId, turn)),
  };
}

/**
 * Reads once: the conversation document, message guards, notes, the turns that this instance answers, and the job where
 * this instance does not know it. A second read follows only where the first one names other turns (of the message,
 * open, queued, or to be replaced), or the job has changed.
 */
export async function readStart(
  dependencies: ReadDependencies,
  request: SendRequest,
): Promise<StartState> {
  const { store, cache, clock, sha256 } = dependencies;
  const { conversationId, caller, replacing } = request;
  const keptJob = cache.job(conversationId);
  const first = await readFirst(dependencies, request, keptJob !== undefined);
  const { conversation, guard, targetSeq, live, notes } = first;
  if (conversation?.problems) {
    const problem = problemText(conversation.problems);
    dependencies.logger.log('ERROR', 'head_partly_unreadable', { conversationId, problem });
  }
  const queued = conversation ? queueSeqs(conversation.value) : [];
  const openSeq = conversation?.value.open?.seq;
  const readSeqs = new Set(live.map(({ value }) => value.seq));
  const seqs = [guard?.seq, openSeq, targetSeq, ...queued]
    .filter((seq) => seq !== undefined)
    .filter((seq) => !readSeqs.has(seq));
  const ofJob = { conversationId, conversation: conversation?.value, known: keptJob };
  const [found, job] = await Promise.all([
    readTurnDocuments(store, conversationId, [...new Set(seqs)]),
    jobOf(dependencies, ofJob, first.job),
  ]);
  const turns = new Map([...live, ...found].map((turn) => [turn?.value.seq, turn]));
  const known = guard && turns.get(guard.seq);
  const open = openSeq === undefined ? undefined : turns.get(openSeq);
  const queue = queued.map((seq) => turns.get(seq)).filter((turn) => turn !== undefined);
  const target = targetSeq === undefined ? undefined : turns.get(targetSeq);
  return {
    facts: {
      now: clock.now(),
      uid: caller.uid,
      bodyHash: request.isStored ? (guard?.bodyHash ?? '') : bodyHash(sha256, request),
      conversation: conversation?.value,
      guard,
      known: known?.value,
      open: open?.value,
      queue: queue.map(({ value }) => value),
      onBusy: request.onBusy,
      isReader: request.isReader,
      replacing: replacing && replacingFacts(replacing, target),
    },
    conversation,
    known,
    open,
    queue,
    job,
    notes,
  };
}

/** The document of a conversation that begins now, with the deployment's settings. */
export const firstConversation = (
  { config, randomness, clock }: Pick<ChatDependencies, 'config' | 'randomness' | 'clock'>,
  caller: Caller,
  memoryRevision: number,
): Conversation =>
  newConversation({
    epoch: randomness.uuid(),
    ownerUid: caller.uid,
    model: config.MODEL,
    profile: config.PROFILE,
    systemInstruction: config.SYSTEM_INSTRUCTION,
    memoryRevision,
    now: clock.now(),
  });
