import { recallTokens } from '#functions/config/conversation-policy.ts';
import { inParallel } from '#functions/lib/promises.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import { keptTexts } from '#functions/worker/compaction/swap/measure-swap.ts';
import { inProfile } from '#shared/compaction/change-profile.ts';
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
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { AppError } from '#shared/errors.ts';
import { sourceUtterances } from '#shared/grounding/cite-statements.ts';
import { summariserOfRun, type ClaimedRun } from '../run.ts';
import { askSummariser, summariserPromptId } from './ask-summariser.ts';
import { citing } from './citing.ts';
import { geminiCliStrategy } from './gemini-cli.ts';
import type { Checked, SnapshotStrategy } from './snapshot-strategy.ts';

/** Calls at once for one compaction. */
const CHUNKS_AT_ONCE = 4;

/** What the present generation knows, in the sections of the conversation's profile. */
export function knownSnapshot({ reading: { conversation, history } }: Pick<ClaimedRun, 'reading'>) {
  const profile = snapshotProfile(conversation.value.profile);
  return history?.snapshot ? inProfile(history.snapshot, profile) : emptySnapshot(profile);
}

/** The room of the snapshot that a run makes, by what it folds and what is known. */
export function roomFor(
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
export const ledgerStrategy: SnapshotStrategy = {
  name: 'ledger',

  async draft(run, plan) {
    const known = knownSnapshot(run);
    const room = roomFor(run, plan);
    try {
      const reply = await askForAnswer(run, plan, { known, room });
      return {
        check: () =>
          reply.kind === 'answer'
            ? check(run, plan, { known, room, answer: reply })
            : Promise.resolve(reply),
      };
    } catch (error) {
      const isRefused = error instanceof AppError && error.reason === 'MODEL_REFUSED_REQUEST';
      if (!isRefused || run.signal.aborted) throw error;
      // Not every model answers under a schema; every one writes text.
      const { conversationId } = run.reading;
      run.dependencies.logger.log('WARNING', 'summariser_without_schema', { conversationId });
      return geminiCliStrategy.draft(run, plan);
    }
  },
};
