import { utterancesOf } from '../../../../shared/compaction/facts/utterances.ts';
import { attachmentsIn } from '../../../../shared/compaction/ledger/attachments.ts';
import { inProfile } from '../../../../shared/compaction/ledger/change-profile.ts';
import { readLedgerAnswer } from '../../../../shared/compaction/ledger/ledger-answer.ts';
import { ledgerContents } from '../../../../shared/compaction/ledger/ledger-input.ts';
import {
  ledgerInstruction,
  ledgerRepairRequest,
  ledgerRequest,
} from '../../../../shared/compaction/ledger/ledger-prompts.ts';
import { mergeOperations } from '../../../../shared/compaction/ledger/merge-operations.ts';
import {
  ledgerJsonSchema,
  type Operation,
} from '../../../../shared/compaction/ledger/operation.ts';
import type { Fact } from '../../../../shared/compaction/facts/fact.ts';
import type { FoldPlan } from '../../../../shared/compaction/plan.ts';
import { snapshotProfileOf } from '../../../../shared/conversation/snapshot.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import { askSummariser, promptIdOf } from '../ask-summariser.ts';
import { inParallel } from '../../in-parallel.ts';
import type { ClaimedRun } from '../run.ts';

/** What the model wants changed in the ledger. */
export type Asked =
  | { kind: 'operations'; operations: Operation[] }
  | { kind: 'empty' }
  | { kind: 'refused'; reason: string };

/** Calls at once for one compaction. */
const CHUNKS_AT_ONCE = 4;

interface Question {
  turns: readonly Turn[];
  /** What is asked, below data that stands between lines of `boundary`. */
  requestOf: (boundary: string) => string;
  promptId: string;
}

async function askOnce(run: ClaimedRun, question: Question): Promise<Asked> {
  const { head, policy, history } = run.reading;
  const profile = snapshotProfileOf(head.value.profile);
  const boundary = run.dependencies.randomness.uuid();
  const answer = await askSummariser(run, {
    systemInstruction: ledgerInstruction({ profile, maximumTokens: policy.snapshotBudgetTokens }),
    contents: [
      ...ledgerContents({
        utterances: utterancesOf(question.turns),
        attachments: attachmentsIn(question.turns),
        previous: history?.snapshot ? inProfile(history.snapshot, profile) : undefined,
        boundary,
      }),
      { role: 'user', parts: [{ text: question.requestOf(boundary) }] },
    ],
    responseJsonSchema: ledgerJsonSchema(profile),
    promptId: question.promptId,
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

/**
 * Asks for the operations that take the folded turns into the ledger: in one call, or, where they are more
 * than the summariser reads at once, in several at a time whose answers code joins. One chunk without an
 * answer refuses all: half of a range must not pass for the whole. Throws what the model throws.
 */
export async function askForOperations(run: ClaimedRun, plan: FoldPlan): Promise<Asked> {
  const { chunks } = plan;
  const answers = await inParallel(chunks, CHUNKS_AT_ONCE, ({ turns }, index) =>
    askTwice(run, {
      turns,
      requestOf: (boundary) => ledgerRequest({ boundary, focus: run.need.focus }),
      promptId: chunks.length === 1 ? promptIdOf(run) : `${promptIdOf(run)}-${index + 1}`,
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
 * One more call that is told what is missing; the turns that say it are shown again, as many as fit one
 * chunk. An answer that cannot be used, or an error, brings nothing: what there is stands.
 */
export async function askForMissing(
  run: ClaimedRun,
  plan: FoldPlan,
  missing: readonly Fact[],
): Promise<Operation[]> {
  const wanted = new Set(missing.flatMap(({ seqs }) => seqs.slice(0, 1)));
  const [first] = plan.chunks;
  const turns =
    plan.chunks.length === 1 && first
      ? first.turns
      : plan.folded.filter(({ seq }) => wanted.has(seq)).slice(0, first?.turns.length ?? 0);
  try {
    const answer = await askOnce(run, {
      turns,
      requestOf: (boundary) => ledgerRepairRequest({ boundary, missing }),
      promptId: `${promptIdOf(run)}-repair`,
    });
    return answer.kind === 'operations' ? answer.operations : [];
  } catch (error) {
    if (run.signal.aborted) throw error;
    return [];
  }
}
