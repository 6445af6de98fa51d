import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import {
  compressionInstruction,
  compressionRequest,
  critiqueRequest,
  promptVersion,
  repairRequest,
} from '#shared/compaction/rewrite/rewrite-prompts.ts';
import { withoutNoteConstraints } from '#shared/compaction/rewrite/verify-sections.ts';
import { readSnapshot } from '#shared/compaction/read-snapshot.ts';
import type { SnapshotSections } from '#shared/compaction/snapshot-sections.ts';
import { stringsIn } from '#shared/conversation/repair/content-strings.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { AppError } from '#shared/errors.ts';
import { askSummariser, summariserPromptId } from '../ask-summariser.ts';
import type { ClaimedRun } from '#functions/worker/compaction/run.ts';

/** One answer of the summariser. */
type Pass =
  | { kind: 'read'; sections: SnapshotSections; text: string }
  | { kind: 'blank' }
  | { kind: 'refused'; reason: string; text: string };

/** What the two passes come to. */
type Summary =
  | { kind: 'read'; sections: SnapshotSections; text: string }
  /** No pass wrote anything. */
  | { kind: 'empty' }
  /** What came was cut, refused or not readable. */
  | { kind: 'refused'; reason: string };

const userContent = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const modelContent = (text: string): Content => ({ role: 'model', parts: [{ text }] });

async function ask(
  { run, plan }: { run: ClaimedRun; plan: FoldPlan },
  promptId: string,
  following: readonly Content[],
): Promise<Pass> {
  const maximumTokens = run.reading.policy.snapshotBudgetTokens;
  const answer = await askSummariser(run, {
    systemInstruction: compressionInstruction({ maximumTokens }),
    contents: [...plan.contents, ...following],
    promptId,
    promptVersion,
  });
  if (answer.kind === 'refused') return answer;
  if (answer.text === '') return { kind: 'blank' };
  const reading = readSnapshot(answer.text);
  const { notes = [] } = run;
  const others = () => stringsIn(plan.contents);
  return reading.ok
    ? {
        kind: 'read',
        sections: withoutNoteConstraints(reading.snapshot, { notes, others }),
        text: answer.text,
      }
    : { kind: 'refused', reason: `SUMMARY_UNREADABLE_${reading.problem}`, text: answer.text };
}

const anchorOf = (run: ClaimedRun, { hasPreviousSnapshot }: FoldPlan): Content =>
  userContent(compressionRequest({ hasPreviousSnapshot, focus: run.need.focus, notes: run.notes }));

/** The second pass criticises a first answer that can be read; else it is a second try. */
async function secondPass(run: ClaimedRun, plan: FoldPlan, first: Pass): Promise<Pass> {
  const anchor = anchorOf(run, plan);
  const following =
    first.kind === 'read'
      ? [anchor, modelContent(first.text), userContent(critiqueRequest)]
      : [anchor];
  try {
    return await ask({ run, plan }, `${summariserPromptId(run)}-verify`, following);
  } catch (error) {
    // The first summary is good and paid for: only a stop from outside discards it.
    const keepsFirst = first.kind === 'read' && error instanceof AppError && !run.signal.aborted;
    if (!keepsFirst) throw error;
    return first;
  }
}

function summaryOf(first: Pass, second: Pass): Summary {
  if (second.kind === 'read') return second;
  if (first.kind === 'read') return first;
  if (second.kind === 'refused') return { kind: 'refused', reason: second.reason };
  if (first.kind === 'refused') return { kind: 'refused', reason: first.reason };
  return { kind: 'empty' };
}

/**
 * Gemini CLI's two passes: summarise, then criticise and improve. A second answer that cannot be used
 * falls back to the first. Always two calls, unless the first one fails.
 */
export async function summarise(run: ClaimedRun, plan: FoldPlan): Promise<Summary> {
  const first = await ask({ run, plan }, summariserPromptId(run), [anchorOf(run, plan)]);
  return summaryOf(first, await secondPass(run, plan, first));
}

/**
 * One more call that must place these identifiers and must not state these facts, or undefined when its
 * answer cannot be used.
 */
export async function askForRepair(
  run: ClaimedRun,
  plan: FoldPlan,
  faults: {
    snapshotText: string;
    missingIdentifiers: readonly string[];
    unsupportedFacts: readonly string[];
  },
): Promise<SnapshotSections | undefined> {
  const answer = await ask({ run, plan }, `${summariserPromptId(run)}-repair`, [
    anchorOf(run, plan),
    modelContent(faults.snapshotText),
    userContent(repairRequest(faults)),
  ]);
  return answer.kind === 'read' ? answer.sections : undefined;
}
