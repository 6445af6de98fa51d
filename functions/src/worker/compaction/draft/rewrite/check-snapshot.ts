import { indexFacts, isHeld, type FactIndex } from '#shared/compaction/facts/index/fact-index.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { tokenCounting } from '#shared/compaction/split/context-tokens.ts';
import {
  statedIdentifiers,
  type StatedText,
} from '#shared/compaction/rewrite/stated-identifiers.ts';
import { verifySections, type Verification } from '#shared/compaction/rewrite/verify-sections.ts';
import type { SnapshotSections } from '#shared/compaction/snapshot-sections.ts';
import { hasMedia, stringsIn } from '#shared/conversation/repair/content-strings.ts';
import { snapshotTexts } from '#shared/conversation/documents/snapshot.ts';
import { keptContents, keptTexts } from '#functions/worker/compaction/swap/measure-swap.ts';
import type { ClaimedRun } from '#functions/worker/compaction/run.ts';
import { statedBefore, statedIn } from './stated-before.ts';

/** The only fault is identifiers that did not fit: a better summary can cure it, or a bare list. */
export const lacksOnly = ({ problems }: Verification) =>
  problems.length === 1 && problems[0] === 'MISSING_IDENTIFIERS';

/** A better summary can cure it. */
export const isCurable = ({ problems }: Verification) =>
  problems.length > 0 &&
  problems.every((problem) => problem === 'MISSING_IDENTIFIERS' || problem === 'UNSUPPORTED_FACTS');

/** What the snapshots of one run are checked against. */
interface Checking {
  run: ClaimedRun;
  /** Identifiers that the user stated and that what stays in the context does not say. */
  stated: {
    /** In the folded turns and, as far as it was handed on, before them. */
    all: readonly Fact[];
    /** In the folded turns. */
    own: readonly Fact[];
  };
  sources: FactIndex | undefined;
}

/** Reads what a plan folds and keeps, once for all checks of its snapshot. */
export function createChecking(run: ClaimedRun, plan: FoldPlan): Checking {
  const { reading, need } = run;
  const own = statedIn(plan);
  const all = [...statedBefore(reading.history), ...own];
  const staying = keptTexts(run, plan);
  const kept = indexFacts(staying);
  const lacking = (texts: readonly StatedText[]): Fact[] =>
    statedIdentifiers(texts).filter((fact) => !isHeld(fact, kept));
  const sources = () => [
    ...stringsIn(plan.contents),
    ...stringsIn(keptContents(plan)),
    ...staying,
    ...(reading.history?.snapshot ? snapshotTexts(reading.history.snapshot) : []),
    ...all.map(({ text }) => text),
    ...(need.focus === undefined ? [] : [need.focus]),
    ...(run.notes ?? []),
  ];
  return {
    run,
    stated: { all: lacking(all), own: lacking(own) },
    sources: plan.contents.some(hasMedia) ? undefined : indexFacts(sources()),
  };
}

function verify(
  { run, sources }: Checking,
  sections: SnapshotSections,
  stated: readonly Fact[],
): Verification {
  const { conversation, policy } = run.reading;
  return verifySections({
    sections,
    stated,
    sources,
    snapshotBudgetTokens: policy.snapshotBudgetTokens,
    counting: tokenCounting(policy, conversation.value.model),
  });
}

/**
 * The snapshot with every identifier that a check found `missing` named in one line, which needs a fraction of
 * the room of sentences; undefined when even that makes it too large.
 */
function listed(
  checking: Checking,
  { sections, missing }: { sections: SnapshotSections; missing: readonly string[] },
  stated: readonly Fact[],
): Verification | undefined {
  const line = `The user also stated: ${missing.join(', ')}`;
  const key_knowledge = [sections.key_knowledge, line].filter((text) => text !== '').join('\n');
  const verification = verify(checking, { ...sections, key_knowledge }, stated);
  return verification.ok ? verification : undefined;
}

/**
 * Verifies a snapshot against what the user stated in the folded turns and, as far as there is room,
 * against what was stated before them, so that nothing fades from generation to generation.
 */
export function checkSnapshot(checking: Checking, sections: SnapshotSections): Verification {
  const { own, all } = checking.stated;
  const complete = verify(checking, sections, all);
  if (!isCurable(complete)) return complete;
  const recent = verify(checking, sections, own);
  // What is old and does not fit as sentences is not worth a call, but a line.
  const missing = complete.missingIdentifiers;
  return recent.ok ? (listed(checking, { sections, missing }, all) ?? recent) : recent;
}

/**
 * The last resort for a snapshot that `lacksOnly` identifiers: names what is missing as a list. Where even the list
 * is too long for the snapshot's ceiling, what does not fit stands in the report and in the transcript:
 * refusing would leave such a conversation without any compaction.
 */
export function listMissing(
  checking: Checking,
  { sections, verification }: { sections: SnapshotSections; verification: Verification },
): Verification {
  if (!lacksOnly(verification)) return verification;
  for (const stated of [checking.stated.all, checking.stated.own]) {
    const missing = verify(checking, sections, stated).missingIdentifiers;
    const withList = listed(checking, { sections, missing }, stated);
    if (withList) return withList;
  }
  return { ...verification, ok: true, problems: [] };
}
