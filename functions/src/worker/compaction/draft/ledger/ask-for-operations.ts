import { recallTokens } from '#functions/config/conversation-policy.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { attachmentsIn } from '#shared/compaction/ledger/operations/attachments.ts';
import { inProfile } from '#shared/compaction/ledger/operations/change-profile.ts';
import { readLedgerAnswer } from '#shared/compaction/ledger/prompt/ledger-answer.ts';
import { ledgerContents, nameableItems } from '#shared/compaction/ledger/prompt/ledger-input.ts';
import {
  ledgerCorrectionRequest,
  ledgerInstruction,
  ledgerRequest,
  promptVersion,
  type PromptRoom,
} from '#shared/compaction/ledger/prompt/ledger-prompts.ts';
import { mergeOperations } from '#shared/compaction/ledger/operations/merge-operations.ts';
import { ledgerJsonSchema, type Operation } from '#shared/compaction/ledger/prompt/operation.ts';
import type { LedgerVerification } from '#shared/compaction/ledger/verify/verify-ledger.ts';
import { leftOutParts } from '#shared/conversation/context/left-out-files.ts';
import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { snapshotProfile, type ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { sourceUtterances } from '#shared/grounding/source-utterances.ts';
import { askSummariser, summariserPromptId } from '../ask-summariser.ts';
import { CrashedError } from '#functions/lib/crash-points.ts';
import { inParallel } from '#functions/lib/promises.ts';
import type { ClaimedRun } from '#functions/worker/compaction/run.ts';
import type { RunRoom } from './room-for.ts';

/** What the model wants changed in the ledger. */
type Asked =
  | { kind: 'operations'; operations: Operation[] }
  | { kind: 'empty' }
  | { kind: 'refused'; reason: string };

/** What a fact that was left out may take. */
const CORRECTION_CHARACTERS = 120;

/** Calls at once for one compaction. */
const CHUNKS_AT_ONCE = 4;

interface Question {
  turns: readonly Turn[];
  /** What is known, as far as it matters for the answer. */
  known: readonly ArchivedItem[];
  room: PromptRoom;
  /** What is asked, below data that stands between lines of `boundary`. */
  requestWith: (boundary: string) => string;
  promptId: string;
}

async function askOnce(run: ClaimedRun, question: Question): Promise<Asked> {
  const conversation = run.reading.conversation.value;
  const profile = snapshotProfile(conversation.profile);
  const isSearched = recallTokens(run.dependencies.config, conversation) > 0;
  const boundary = run.dependencies.randomness.uuid();
  const answer = await askSummariser(run, {
    systemInstruction: ledgerInstruction({ profile, room: question.room, isSearched }),
    contents: [
      ...ledgerContents({
        utterances: [...readUtterances(question.turns), ...sourceUtterances(question.turns)],
        attachments: attachmentsIn(question.turns, leftOutParts(run.reading.turns)),
        known: question.known,
        boundary,
      }),
      { role: 'user', parts: [{ text: question.requestWith(boundary) }] },
    ],
    responseJsonSchema: ledgerJsonSchema(profile),
    promptId: question.promptId,
    promptVersion,
  });
  if (answer.kind === 'refused') return answer;
  if (answer.text === '') return { kind: 'empty' };
  const read = readLedgerAnswer(answer.text);
  return read.ok
    ? { kind: 'operations', operations: read.operations }
    : { kind: 'refused', reason: `SUMMARY_UNREADABLE_${read.problem}` };
}

/** Asks a second time where the first answer cannot be used: models slip, and seldom twice. */
async function askTwice(run: ClaimedRun, question: Question): Promise<Asked> {
  const first = await askOnce(run, question);
  if (first.kind === 'operations') return first;
  return askOnce(run, { ...question, promptId: `${question.promptId}-verify` });
}

/** The items that operations may name. */
function knownItems({ reading: { conversation, history } }: ClaimedRun): ArchivedItem[] {
  const profile = snapshotProfile(conversation.value.profile);
  return history?.snapshot ? nameableItems(inProfile(history.snapshot, profile)) : [];
}

const charactersIn = (items: readonly { text: string }[]): number =>
  items.reduce((sum, { text }) => sum + text.length, 0);

/**
 * Asks for the operations that take the folded turns into the ledger: in one call, or, where they are more
 * than the summariser reads at once, in several at a time whose answers code joins. One chunk without an
 * answer refuses all: half of a range must not pass for the whole. Throws what the model throws.
 */
export async function askForOperations(
  run: ClaimedRun,
  { chunks }: FoldPlan,
  { characters }: RunRoom,
): Promise<Asked> {
  const known = knownItems(run);
  const knownCharacters = charactersIn(known);
  // What is new has its share of the room in each chunk.
  const free = Math.max(0, characters - knownCharacters) / chunks.length;
  const room =
    chunks.length === 1
      ? { characters, knownCharacters }
      : { characters: Math.floor(knownCharacters + free), knownCharacters };
  const answers = await inParallel(chunks, CHUNKS_AT_ONCE, ({ turns }, index) =>
    askTwice(run, {
      turns,
      known,
      room,
      requestWith: (boundary) =>
        ledgerRequest({ boundary, focus: run.need.focus, notes: run.notes }),
      promptId:
        chunks.length === 1 ? summariserPromptId(run) : `${summariserPromptId(run)}-${index + 1}`,
    }),
  );
  const failed = answers.find(({ kind }) => kind !== 'operations');
  if (failed) return failed;
  const good = answers.filter((answer) => answer.kind === 'operations');
  return {
    kind: 'operations',
    operations: mergeOperations(good.map(({ operations }) => operations)),
  };
}

/**
 * The wanted turns as the first calls read them, as many as the largest of those calls had room for beside
 * `otherCharacters`.
 */
function turnsWithin(
  { chunks }: FoldPlan,
  { wanted, otherCharacters }: { wanted: ReadonlySet<number>; otherCharacters: number },
): Turn[] {
  const lengthOf = (turn: Turn): number => JSON.stringify([turn.user, turn.contents]).length;
  const lengths = chunks.map(({ turns }) => turns.reduce((sum, turn) => sum + lengthOf(turn), 0));
  // One chunk may be far smaller than what a call has room for.
  let left = Math.max(...lengths) - (chunks.length === 1 ? 0 : otherCharacters);
  const shown = new Set<number>();
  return chunks
    .flatMap(({ turns }) => turns)
    .filter((turn) => {
      if (!wanted.has(turn.seq) || shown.has(turn.seq)) return false;
      left -= lengthOf(turn);
      shown.add(turn.seq);
      return left >= 0;
    });
}

/**
 * One more call that is told what is wrong or missing, with the turns that its items cite and that say what is missing,
 * and no others: as many as fit one chunk. An answer that cannot be used, or an error, brings nothing: what there is
 * stands.
 */
export async function askForCorrection(
  run: ClaimedRun,
  plan: FoldPlan,
  { correction, snapshot }: LedgerVerification,
): Promise<Operation[]> {
  if (correction === undefined) return [];
  const ids = new Set(correction.items.map(({ id }) => id));
  const items = nameableItems(snapshot).filter(({ id }) => ids.has(id));
  const wanted = new Set([
    ...items.flatMap(({ sources }) => sources),
    ...correction.missing.flatMap(({ seqs }) => seqs.slice(0, 1)),
  ]);
  const requestWith = (boundary: string): string =>
    ledgerCorrectionRequest({ boundary, correction });
  const otherCharacters = JSON.stringify(items).length + requestWith('').length;
  const turns = turnsWithin(plan, { wanted, otherCharacters });
  const knownCharacters = charactersIn(items);
  const { missing } = correction;
  try {
    const answer = await askOnce(run, {
      turns,
      known: items,
      room: {
        characters: knownCharacters + CORRECTION_CHARACTERS * missing.length,
        knownCharacters,
      },
      requestWith,
      promptId: `${summariserPromptId(run)}-repair`,
    });
    return answer.kind === 'operations' ? answer.operations : [];
  } catch (error) {
    if (run.signal.aborted || error instanceof CrashedError) throw error;
    return [];
  }
}
