import { countingOf } from '../../../shared/compaction/plan.ts';
import { promptVersion } from '../../../shared/compaction/prompts.ts';
import {
  sectionNames,
  type SnapshotSections,
} from '../../../shared/compaction/snapshot-sections.ts';
import { renderSnapshot } from '../../../shared/compaction/snapshot-text.ts';
import { decideSwap } from '../../../shared/compaction/swap-decision.ts';
import { storedMasks, type PlannedMask } from '../../../shared/compaction/tail-masks.ts';
import { estimateContentTokens } from '../../../shared/compaction/token-estimate.ts';
import type { Verification } from '../../../shared/compaction/verification.ts';
import {
  assembleContext,
  promptOf,
  type ContextSource,
} from '../../../shared/conversation/assemble-context.ts';
import type { Candidate, Verified } from './candidate.ts';
import type { Summary } from './check-and-repair.ts';
import { statedAfter, withinReport } from './check-snapshot.ts';
import { countTokens, type TokenCounts } from './count-tokens.ts';
import { unchanged } from './outcome.ts';
import { contextOf, type ClaimedRun } from './run.ts';
import { saveBlobs } from './save-blobs.ts';

const storedSections = (sections: SnapshotSections): Record<string, string[]> =>
  Object.fromEntries(
    sectionNames
      .filter((name) => sections[name].trim() !== '')
      .map((name) => [name, [sections[name].trim()]]),
  );

/** Uncalibrated tokens of the memory that a snapshot makes: itself and the acknowledgement. */
function memoryTokens(run: ClaimedRun, context: ContextSource): number {
  const counting = countingOf(run.reading.policy, context.model);
  return assembleContext({ ...context, pins: [], turns: [] }).reduce(
    (sum, { content }) => sum + estimateContentTokens(content, counting),
    0,
  );
}

interface Measured {
  run: ClaimedRun;
  summary: Summary;
  verification: Verification;
  boundary: string;
  masks: PlannedMask[];
  after: ContextSource;
  counts: TokenCounts;
  /** By the same counter as `counts`, or as the meter had it. */
  beforeTokens: number;
}

/** What verification found, as it is stored; every list is bounded. */
const reportOf = ({ run, summary, verification, counts }: Measured): Record<string, unknown> => ({
  tokensSource: counts.source,
  snapshotTokens: verification.snapshotTokens,
  appendedIdentifiers: withinReport(verification.appendedIdentifiers),
  missingIdentifiers: withinReport(verification.missingIdentifiers),
  missingIdentifierCount: verification.missingIdentifiers.length,
  droppedLines: withinReport(verification.droppedLines),
  droppedLineCount: verification.droppedLines.length,
  statedIdentifiers: statedAfter(run.reading.history, summary.plan),
});

function candidateOf(measured: Measured): Candidate {
  const { run, summary, verification, after, counts, beforeTokens } = measured;
  const { plan, request } = summary;
  return {
    state: 'COMPACTED',
    coveredThrough: after.coveredThrough,
    from: plan.from,
    turnsFolded: plan.folded.length,
    ...(plan.isPartial && { isPartial: true }),
    boundary: measured.boundary,
    snapshotText: after.history?.snapshotText ?? '',
    sections: storedSections(verification.repaired),
    snapshotTokens: memoryTokens(run, after),
    masks: measured.masks,
    beforeTokens,
    afterTokens: counts.afterTokens ?? beforeTokens,
    tokensSource: counts.source,
    model: request.model,
    promptVersion,
    sourceHash: run.dependencies.sha256(JSON.stringify(plan.contents)),
    report: reportOf(measured),
  };
}

/**
 * Counts the context as it is and as a verified summary would make it, decides by `decideSwap` whether
 * the one replaces the other, and builds the candidate. Stores the full text of the tool outputs that
 * the new context shortens (blobs are named by content: a second time changes nothing). Throws
 * StoppedError and what the store throws; a context that does not shrink enough is an outcome.
 */
export async function measureSwap(
  run: ClaimedRun,
  summary: Summary,
  verification: Verification,
): Promise<Verified> {
  const { plan } = summary;
  const { reading, dependencies } = run;
  const boundary = dependencies.randomness.uuid();
  const snapshotText = renderSnapshot({ sections: verification.repaired, boundary });
  const masks = await saveBlobs(run, plan.masks);
  const before = contextOf(reading);
  const after: ContextSource = {
    ...before,
    history: { snapshotText, masks: storedMasks(masks) },
    coveredThrough: { seq: plan.upTo, contentIndex: 0 },
    turns: plan.kept,
  };
  const counts = await countTokens(run, {
    before: promptOf(before, assembleContext(before)),
    after: promptOf(after, assembleContext(after)),
  });
  const decision = decideSwap({
    ...counts,
    overheadTokens: reading.head.value.context.overheadTokens,
    snapshotState: 'ok',
    policy: reading.policy,
    trigger: run.need.trigger,
    isPartial: plan.isPartial,
  });
  const beforeTokens = counts.beforeTokens ?? reading.tokens;
  const measured = { run, summary, verification, boundary, masks, after, counts, beforeTokens };
  if (decision.swap) return { kind: 'candidate', candidate: candidateOf(measured) };
  const { state, reason } = decision;
  const tokensSource = counts.beforeTokens === null ? reading.tokensSource : counts.source;
  return { kind: 'outcome', outcome: unchanged(beforeTokens, { state, reason, tokensSource }) };
}
