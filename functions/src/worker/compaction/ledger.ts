import { recallTokens } from '#functions/config/conversation-policy.ts';
import { inParallel } from '#functions/lib/promises.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import { fallbackSnapshot } from '#shared/compaction/code-snapshot.ts';
import { tokenCounting } from '#shared/compaction/context-tokens.ts';
import { attachmentsIn, historyContents, nameableItems } from '#shared/compaction/history-lines.ts';
import {
  answerJsonSchema,
  joinAnswers,
  readAnswer,
  type SummariserAnswer,
} from '#shared/compaction/operations.ts';
import type { FoldPlan } from '#shared/compaction/plan.ts';
import {
  inProfile,
  promptVersion,
  summariserInstruction,
  summariserRequest,
  type PromptRoom,
} from '#shared/compaction/prompt.ts';
import { renderSnapshot } from '#shared/compaction/render.ts';
import {
  measureWideShare,
  promptRoom,
  snapshotRoom,
  type SnapshotRoom,
} from '#shared/compaction/room.ts';
import { writeSnapshot } from '#shared/compaction/write-snapshot.ts';
import { leftOutParts } from '#shared/conversation/context/left-out-files.ts';
import {
  emptySnapshot,
  snapshotProfile,
  type ArchivedItem,
  type Snapshot,
  workingItems,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { AppError } from '#shared/lib/errors.ts';
import { sourceUtterances, withCitations } from '#shared/compaction/cite-statements.ts';
import { askSummariser, summariserPromptId } from './ask-summariser.ts';
import { geminiCliStrategy } from './gemini-cli.ts';
import { type Checked, type SnapshotStrategy, keptTexts } from './measure-swap.ts';
import { summariserOfRun, type ClaimedRun, type Run } from './run.ts';

/** Calls at once for one compaction. */
const CHUNKS_AT_ONCE = 4;

/** What the present generation knows, in the sections of the conversation's profile. */
function knownSnapshot({ reading: { conversation, history } }: Pick<ClaimedRun, 'reading'>) {
  const profile = snapshotProfile(conversation.value.profile);
  return history?.snapshot ? inProfile(history.snapshot, profile) : emptySnapshot(profile);
}

/** The room of the snapshot that a run makes, by what it folds and what is known. */
function roomFor(
  { reading }: Pick<ClaimedRun, 'reading'>,
  { folded }: Pick<FoldPlan, 'folded'>,
): SnapshotRoom {
  const { policy, history, conversation } = reading;
  return snapshotRoom({
    budgetTokens: policy.snapshotBudgetTokens,
    foldedTokens: folded.reduce((sum, { tokens }) => sum + tokens.user + tokens.answer, 0),
    previousTokens: history?.snapshotTokens ?? 0,
    previous: history?.snapshot ?? undefined,
    calibration: conversation.value.context.calibration,
    wideShare: measureWideShare(folded),
  });
}

/** What the summariser answered; an answer that cannot be used is a result. */
type Reply = ({ kind: 'answer' } & SummariserAnswer) | Exclude<Checked, { kind: 'checked' }>;

/** Asks about the turns of one chunk. */
async function askAboutChunk(
  run: ClaimedRun,
  question: {
    turns: readonly Turn[];
    known: readonly ArchivedItem[];
    room: PromptRoom;
    promptId: string;
  },
): Promise<Reply> {
  const conversation = run.reading.conversation.value;
  const profile = snapshotProfile(conversation.profile);
  const { turns, known, room, promptId } = question;
  const boundary = run.dependencies.randomness.uuid();
  const request = summariserRequest({ boundary, focus: run.request.focus, notes: run.notes });
  const answer = await askSummariser(run, {
    systemInstruction: summariserInstruction({
      profile,
      room,
      isSearched: recallTokens(run.dependencies.config, conversation) > 0,
    }),
    contents: [
      ...historyContents({
        utterances: [...readUtterances(turns), ...sourceUtterances(turns)],
        attachments: attachmentsIn(turns, leftOutParts(run.reading.turns)),
        known,
        boundary,
      }),
      { role: 'user', parts: [{ text: request }] },
    ],
    responseJsonSchema: answerJsonSchema(profile),
    promptId,
    promptVersion,
  });
  if (answer.kind === 'refused') return answer;
  if (answer.text === '') return { kind: 'empty' };
  const read = readAnswer(answer.text);
  if (!read.ok) return { kind: 'refused', reason: `SUMMARY_UNREADABLE_${read.problem}` };
  const { operations, topics, skipped } = read;
  return { kind: 'answer', operations, topics, skipped };
}

/**
 * Asks for what takes the folded turns into the snapshot: in one call, or, where they are more than the summariser reads
 * at once, in several at a time whose answers code joins. One chunk without an answer refuses all: half of a range must
 * not pass for the whole. Throws what the model throws.
 */
async function askForAnswer(
  run: ClaimedRun,
  { chunks }: FoldPlan,
  { known, room }: { known: Snapshot; room: SnapshotRoom },
): Promise<Reply> {
  const items = nameableItems(known);
  const chunkRoom = promptRoom(room, {
    known: items,
    folds: known.folds ?? 0,
    chunks: chunks.length,
  });
  const promptId = summariserPromptId(run);
  const answers = await inParallel(chunks, CHUNKS_AT_ONCE, ({ turns }, index) =>
    askAboutChunk(run, {
      turns,
      known: items,
      room: chunkRoom,
      promptId: chunks.length === 1 ? promptId : `${promptId}-${index + 1}`,
    }),
  );
  const failed = answers.find(({ kind }) => kind !== 'answer');
  if (failed) return failed;
  return {
    kind: 'answer',
    ...joinAnswers(answers.filter((answer) => answer.kind === 'answer')),
  };
}

/**
 * What tools said in the earlier turns that the folded ones brought back, a text for each turn: the model may have
 * repeated it. From the index of recall, where its words came from. No read where nothing was brought back. Throws
 * StoreUnavailableError.
 */
async function recalledTools(
  { dependencies, reading }: ClaimedRun,
  { folded }: Pick<FoldPlan, 'folded'>,
): Promise<string[]> {
  const seqs = new Set(folded.flatMap(({ recalled }) => recalled?.seqs ?? []));
  if (seqs.size === 0) return [];
  const { conversationId, conversation } = reading;
  const { segments } = await loadIndex(dependencies, {
    conversationId,
    conversation: conversation.value,
  });
  const passages = segments
    .flatMap((segment) => segment.passages)
    .filter(({ seq, role }) => role === 'tool' && seqs.has(seq));
  const bySeq = Map.groupBy(passages, ({ seq }) => seq);
  return [...bySeq.values()].map((each) => each.map(({ text }) => text).join('\n'));
}

async function check(
  run: ClaimedRun,
  plan: FoldPlan,
  { known, room, answer }: { known: Snapshot; room: SnapshotRoom; answer: SummariserAnswer },
): Promise<Checked> {
  const { conversation, policy } = run.reading;
  const counting = tokenCounting(policy, conversation.value.model);
  const { focus } = run.request;
  const written = writeSnapshot({
    previous: known,
    answer,
    turns: plan.folded,
    recalled: await recalledTools(run, plan),
    otherTexts: [
      ...keptTexts(run, plan),
      ...(run.notes ?? []),
      ...(focus === undefined ? [] : [focus]),
    ],
    room,
    counting,
  });
  if (!written.ok)
    return written.problem === 'EMPTY'
      ? { kind: 'empty' }
      : { kind: 'refused', reason: written.problem };
  const snapshot = citing(run, plan, written.snapshot);
  return {
    kind: 'checked',
    strategy: 'ledger',
    snapshot,
    body: renderSnapshot(snapshot, { budgetTokens: room.roomTokens, counting }),
    report: { ...written.report },
    model: run.bill.model ?? summariserOfRun(run).model,
    promptVersion,
  };
}

/**
 * Recap's way: in one call the model says what to add, change or end, and what was talked about; code applies it and
 * checks it against the turns. What nobody names survives unchanged. Where the model refuses the schema, the strategy
 * `gemini-cli` takes over.
 */
export const ledgerStrategy: SnapshotStrategy = async (run, plan) => {
  const known = knownSnapshot(run);
  const room = roomFor(run, plan);
  let reply: Reply;
  try {
    reply = await askForAnswer(run, plan, { known, room });
  } catch (error) {
    const isRefused = error instanceof AppError && error.reason === 'MODEL_REFUSED_REQUEST';
    if (!isRefused || run.signal.aborted) throw error;
    // Not every model answers under a schema; every one writes text.
    const { conversationId } = run.reading;
    run.dependencies.logger.log('WARNING', 'summariser_without_schema', { conversationId });
    return geminiCliStrategy(run, plan);
  }
  return reply.kind === 'answer' ? check(run, plan, { known, room, answer: reply }) : reply;
};

/** Stored with each history; changes when the same turns would give another snapshot. */
const FALLBACK_VERSION = 'fallback-2';

/**
 * Tokens of a context from which a run that may not ask a model folds all the same: the hard threshold,
 * beyond which answers come from a shrunken view; after an overflow any. Undefined: never, as in the profile
 * `gemini-cli`, which only shortens.
 */
export function foldFromTokens({ reading, request }: Pick<Run, 'reading' | 'request'>) {
  const { conversation, policy } = reading;
  const { context, profile } = conversation.value;
  // What is read again after an erasure is larger than the context; what is left of the snapshot will do.
  if (profile === 'gemini-cli' || reading.isReadAgain) return undefined;
  return request.trigger === 'overflow' ? 0 : policy.hardThresholdTokens + context.overheadTokens;
}

/**
 * The snapshot by code alone: what was known, and the beginnings of the user's messages since. Worse than what a model
 * writes and better than none: progress needs no model.
 */
export const fallbackStrategy: SnapshotStrategy = async (run, plan) => {
  const { conversation, policy } = run.reading;
  const counting = tokenCounting(policy, conversation.value.model);
  const room = roomFor(run, plan);
  const written = fallbackSnapshot(knownSnapshot(run), plan.folded, { room, counting });
  if (workingItems(written).length === 0) return { kind: 'empty' };
  const snapshot = citing(run, plan, written);
  return {
    kind: 'checked',
    strategy: 'fallback',
    snapshot,
    body: renderSnapshot(snapshot, { budgetTokens: room.roomTokens, counting }),
    report: {},
    model: '',
    promptVersion: FALLBACK_VERSION,
  };
};

/**
 * A snapshot with those sources of the folded answers that bear it out. A turn that is folded in parts gives the sources
 * of the whole turn.
 */
function citing(
  { reading: { turns, history } }: Pick<Run, 'reading'>,
  { folded }: Pick<FoldPlan, 'folded'>,
  snapshot: Snapshot,
): Snapshot {
  const whole = new Map(turns.map((turn) => [turn.seq, turn]));
  return withCitations(snapshot, {
    previous: history?.snapshot ?? undefined,
    turns: folded.map((turn) => whole.get(turn.seq) ?? turn),
  });
}
