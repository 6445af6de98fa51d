import { AppError } from '#shared/lib/errors.ts';
import { sourceUtterances, withCitations } from './cite-statements.ts';
import { fallbackSnapshot } from './fallback-snapshot.ts';
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
import { inParallel } from '#shared/lib/in-parallel.ts';
import { geminiCliStrategy } from './gemini-cli.ts';
import { attachmentsIn, historyContents, nameableItems } from './history-lines.ts';
import { answerJsonSchema, joinAnswers, readAnswer, type SummariserAnswer } from './operations.ts';
import type { FoldPlan } from './plan.ts';
import type { SummaryStrategy } from '#shared/conversation/documents/history.ts';
import {
  inProfile,
  promptVersion,
  summariserInstruction,
  summariserRequest,
  type PromptRoom,
} from './prompt.ts';
import { renderSnapshot } from './render.ts';
import { measureWideShare, promptRoom, snapshotRoom, type SnapshotRoom } from './room.ts';
import { askSummariser, type Summariser } from './summariser.ts';
import {
  keptTexts,
  type Draft,
  type CompactionWork,
  type PlannedTurns,
  type SnapshotStrategy,
} from './work.ts';
import { writeSnapshot } from './write-snapshot.ts';

/**
 * Recap's way: in one call the model says what to add, change or end, and what was talked about; code applies it and
 * checks it against the turns. What nobody names survives unchanged. Where the model refuses the schema, the strategy
 * `gemini-cli` takes over.
 */
const ledgerStrategy: SnapshotStrategy = async (work, plan, summariser) => {
  const previous = previousSnapshot(work);
  const room = roomFor(work, plan);
  let reply: Reply;
  try {
    reply = await askForAnswer(work, plan, { summariser, previous, room });
  } catch (error) {
    const isRefused = error instanceof AppError && error.reason === 'MODEL_REFUSED_REQUEST';
    if (!isRefused || summariser.signal.aborted) throw error;
    // Not every model answers under a schema; every one writes text.
    summariser.onSchemaRefused?.();
    return geminiCliStrategy(work, plan, summariser);
  }
  if (reply.kind !== 'answer') return reply;
  const recalled = (await work.recalledTools?.(plan.folded)) ?? [];
  return checkedDraft(work, plan, { previous, room, answer: reply, recalled });
};

/** The ways in which a model writes snapshots. */
export const strategies: Readonly<Record<SummaryStrategy, SnapshotStrategy>> = {
  ledger: ledgerStrategy,
  'gemini-cli': geminiCliStrategy,
};

// Asking

/** Calls at once for one compaction. */
const CHUNKS_AT_ONCE = 4;

/** What the summariser answered; an answer that cannot be used is a result. */
type Reply = ({ kind: 'answer' } & SummariserAnswer) | Exclude<Draft, { kind: 'snapshot' }>;

/**
 * Asks the model for operations that add the folded turns to the snapshot: in one call, or, where they are more than it
 * reads at once, in several whose answers code joins. One chunk without an answer refuses all: half of a range must
 * not pass for the whole. Throws what the model throws.
 */
async function askForAnswer(
  work: CompactionWork,
  { chunks }: FoldPlan,
  {
    summariser,
    previous,
    room,
  }: { summariser: Summariser; previous: Snapshot; room: SnapshotRoom },
): Promise<Reply> {
  const previousItems = nameableItems(previous);
  const chunkRoom = promptRoom(room, {
    previousItems,
    folds: previous.folds ?? 0,
    chunks: chunks.length,
  });
  const { promptId } = summariser;
  const answers = await inParallel(chunks, CHUNKS_AT_ONCE, ({ turns }, index) =>
    askAboutChunk(work, summariser, {
      turns,
      previousItems,
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

/** Asks about the turns of one chunk. */
async function askAboutChunk(
  work: CompactionWork,
  summariser: Summariser,
  question: {
    turns: readonly Turn[];
    previousItems: readonly ArchivedItem[];
    room: PromptRoom;
    promptId: string;
  },
): Promise<Reply> {
  const { focus, notes, isSearched, context } = work;
  const profile = snapshotProfile(work.profile);
  const { turns, previousItems, room, promptId } = question;
  const boundary = summariser.drawBoundary();
  const request = summariserRequest({ boundary, focus, notes });
  const answer = await askSummariser(summariser, {
    systemInstruction: summariserInstruction({ profile, room, isSearched }),
    contents: [
      ...historyContents({
        utterances: [...readUtterances(turns), ...sourceUtterances(turns)],
        attachments: attachmentsIn(turns, leftOutParts(context.turns)),
        previousItems,
        boundary,
      }),
      { role: 'user', parts: [{ text: request }] },
    ],
    responseJsonSchema: answerJsonSchema(profile),
    promptId,
    promptVersion,
  });
  return answer.kind === 'refused' ? answer : readReply(answer.text);
}

function readReply(text: string): Reply {
  if (text === '') return { kind: 'empty' };
  const read = readAnswer(text);
  if (!read.ok) return { kind: 'refused', reason: `SUMMARY_UNREADABLE_${read.problem}` };
  const { operations, topics, skipped } = read;
  return { kind: 'answer', operations, topics, skipped };
}

// Checking

/** The snapshot that the text of an answer about all folded turns makes, checked in the same way. */
export function checkAnswerText(work: CompactionWork, plan: PlannedTurns, text: string): Draft {
  const reply = readReply(text.trim());
  if (reply.kind !== 'answer') return reply;
  const room = roomFor(work, plan);
  return checkedDraft(work, plan, {
    previous: previousSnapshot(work),
    room,
    answer: reply,
    recalled: [],
  });
}

/** The snapshot that an answer makes of the previous one. `recalled`: what tools said in earlier turns that came back. */
function checkedDraft(
  work: CompactionWork,
  plan: PlannedTurns,
  {
    previous,
    room,
    answer,
    recalled,
  }: {
    previous: Snapshot;
    room: SnapshotRoom;
    answer: SummariserAnswer;
    recalled: readonly string[];
  },
): Draft {
  const { focus, notes = [] } = work;
  const { counting } = work.forms;
  const written = writeSnapshot({
    previous,
    answer,
    turns: plan.folded,
    recalled,
    otherTexts: [...keptTexts(work, plan), ...notes, ...(focus === undefined ? [] : [focus])],
    room,
    counting,
  });
  if (!written.ok)
    return written.problem === 'EMPTY'
      ? { kind: 'empty' }
      : { kind: 'refused', reason: written.problem };
  const snapshot = citing(work, plan, written.snapshot);
  return {
    kind: 'snapshot',
    strategy: 'ledger',
    snapshot,
    body: renderSnapshot(snapshot, { budgetTokens: room.roomTokens, counting }),
    report: { ...written.report },
    promptVersion,
  };
}

/**
 * Adds the web sources of the folded answers that support a statement. Of a turn that is folded in part, those of the
 * whole turn count.
 */
function citing(
  { context, previous }: CompactionWork,
  { folded }: Pick<FoldPlan, 'folded'>,
  snapshot: Snapshot,
): Snapshot {
  const whole = new Map(context.turns.map((turn) => [turn.seq, turn]));
  return withCitations(snapshot, {
    previous: previous?.snapshot ?? undefined,
    turns: folded.map((turn) => whole.get(turn.seq) ?? turn),
  });
}

/** The snapshot that the new one goes on from, in the sections of the conversation's profile; empty before the first fold. */
function previousSnapshot({ profile, previous }: CompactionWork) {
  const sections = snapshotProfile(profile);
  return previous?.snapshot ? inProfile(previous.snapshot, sections) : emptySnapshot(sections);
}

/** How large the new snapshot may be, by the size of what is folded and of the previous snapshot. */
function roomFor(
  { policy, previous, calibration }: CompactionWork,
  { folded }: Pick<FoldPlan, 'folded'>,
): SnapshotRoom {
  return snapshotRoom({
    budgetTokens: policy.snapshotBudgetTokens,
    foldedTokens: folded.reduce((sum, { tokens }) => sum + tokens.user + tokens.answer, 0),
    previousTokens: previous?.snapshotTokens ?? 0,
    previous: previous?.snapshot ?? undefined,
    calibration,
    wideShare: measureWideShare(folded),
  });
}

// Without a model

/** Stored with each history; changes when the same turns would give another snapshot. */
const FALLBACK_VERSION = 'fallback-2';

/**
 * The snapshot by code alone: the previous one, and the beginnings of the user's messages since. Worse than what a model
 * writes and better than none: progress needs no model.
 */
export function fallbackDraft(work: CompactionWork, plan: FoldPlan): Draft {
  const { counting } = work.forms;
  const room = roomFor(work, plan);
  const written = fallbackSnapshot(previousSnapshot(work), plan.folded, { room, counting });
  if (workingItems(written).length === 0) return { kind: 'empty' };
  const snapshot = citing(work, plan, written);
  return {
    kind: 'snapshot',
    strategy: 'fallback',
    snapshot,
    body: renderSnapshot(snapshot, { budgetTokens: room.roomTokens, counting }),
    report: {},
    promptVersion: FALLBACK_VERSION,
  };
}
