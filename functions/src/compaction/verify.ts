import { countingOf } from '../../../shared/compaction/plan.ts';
import { promptVersion } from '../../../shared/compaction/prompts.ts';
import {
  sectionNames,
  type SnapshotSections,
} from '../../../shared/compaction/snapshot-sections.ts';
import { renderSnapshot } from '../../../shared/compaction/snapshot-text.ts';
import { decideSwap, type SnapshotState } from '../../../shared/compaction/swap-decision.ts';
import { storedMasks } from '../../../shared/compaction/tail-masks.ts';
import { estimateContentTokens } from '../../../shared/compaction/token-estimate.ts';
import type { Verification } from '../../../shared/compaction/verification.ts';
import {
  assembleContext,
  promptOf,
  type ContextSource,
} from '../../../shared/conversation/assemble-context.ts';
import type { Candidate } from './candidate.ts';
import { checkAndRepair, type Summary } from './check-and-repair.ts';
import { statedAfter } from './check-snapshot.ts';
import { countTokens } from './count-tokens.ts';
import { unchanged, type Outcome } from './outcome.ts';
import { contextOf, type ClaimedRun } from './run.ts';
import { saveBlobs } from './save-blobs.ts';

export type Verified =
  { kind: 'candidate'; candidate: Candidate } | { kind: 'outcome'; outcome: Outcome };

function refusal(run: ClaimedRun, snapshotState: SnapshotState, reason?: string): Verified {
  const decision = decideSwap({
    beforeTokens: null,
    afterTokens: null,
    snapshotState,
    policy: run.reading.policy,
    trigger: run.need.trigger,
  });
  if (decision.swap)
    throw new RangeError(`a snapshot that is ${snapshotState} must not be swapped in`);
  const { state } = decision;
  const outcome = unchanged(run.reading.tokens, { state, reason: reason ?? decision.reason });
  return { kind: 'outcome', outcome };
}

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

async function measure(
  run: ClaimedRun,
  summary: Summary,
  verification: Verification,
): Promise<Verified> {
  const { plan, request } = summary;
  const { reading, dependencies } = run;
  const boundary = dependencies.randomness.uuid();
  const snapshotText = renderSnapshot({ sections: verification.repaired, boundary });
  const masks = await saveBlobs(run, plan.masks);
  const coveredThrough = { seq: plan.upTo, contentIndex: 0 };
  const before = contextOf(reading);
  const after: ContextSource = {
    ...before,
    history: { snapshotText, masks: storedMasks(masks) },
    coveredThrough,
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
  });
  const beforeTokens = counts.beforeTokens ?? reading.tokens;
  if (!decision.swap) {
    const { state, reason } = decision;
    return { kind: 'outcome', outcome: unchanged(beforeTokens, { state, reason }) };
  }
  const candidate: Candidate = {
    state: 'COMPACTED',
    coveredThrough,
    from: plan.from,
    turnsFolded: plan.folded.length,
    boundary,
    snapshotText,
    sections: storedSections(verification.repaired),
    snapshotTokens: memoryTokens(run, after),
    masks,
    beforeTokens,
    afterTokens: counts.afterTokens ?? beforeTokens,
    model: request.model,
    promptVersion,
    sourceHash: dependencies.sha256(JSON.stringify(plan.contents)),
    report: {
      tokensSource: counts.source,
      snapshotTokens: verification.snapshotTokens,
      appendedIdentifiers: verification.appendedIdentifiers,
      missingIdentifiers: verification.missingIdentifiers,
      statedIdentifiers: statedAfter(reading.history, plan),
    },
  };
  return { kind: 'candidate', candidate };
}

/**
 * Checks a summary by code, repairs it, counts the context with and without it, and decides. Throws
 * StoppedError and what the store throws; a summary that is not good enough is an outcome.
 */
export async function verifySummary(run: ClaimedRun, summary: Summary): Promise<Verified> {
  const { result } = summary;
  switch (result.kind) {
    case 'empty':
      return refusal(run, 'empty');
    case 'refused':
      return refusal(run, 'refused', result.reason);
    case 'snapshot': {
      const verification = await checkAndRepair(run, summary, result);
      if (verification.ok) return measure(run, summary, verification);
      return verification.problems.includes('EMPTY')
        ? refusal(run, 'empty')
        : refusal(run, 'refused', verification.problems.join(','));
    }
  }
}
