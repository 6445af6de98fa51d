import type { Figures } from '#web/text/figures.ts';

interface Refusals {
  met: number;
  calls: number;
  turns: number;
  isAnswered: boolean;
}

/** What each fault was seen to do, in figures. */
export interface Findings {
  drop: {
    /** Last event before the cut and first after it; undefined: there was none. */
    cutAfter: number | undefined;
    resumedAt: number | undefined;
    /** Events that came twice, or out of order. */
    repeated: number;
    isSameText: boolean;
  };
  resend: { sends: number; turns: number; answers: number; calls: number | undefined };
  killChat: { turns: number; attempts: number; isAnswered: boolean; afterMs: number };
  killWorker: { swaps: number; missing: number; afterMs: number };
  quota: Refusals;
  unavailable: Refusals;
  safety: { isKept: boolean; isInContext: boolean; isNextAnswered: boolean };
  redeliver: { deliveries: number; acknowledged: number; swaps: number };
  inventive: {
    /** Numbers of the snapshot that were looked up. */
    figures: number;
    /** Values that the report of the compaction names as said by nobody. */
    marked: number;
    /** Numbers that nobody said and that stand there without a mark. */
    unmarked: readonly string[];
  };
  threshold: { state: string | undefined; turnsFolded: number; reason: string | undefined };
}

export type FaultName = keyof Findings;

type Finding<Name extends FaultName = FaultName> = {
  [Fault in Name]: { fault: Fault } & Findings[Fault];
}[Name];

/** A sentence of each finding. */
export type FindingTexts = {
  [Fault in FaultName]: (finding: Findings[Fault], figures: Figures) => string;
};

export const tellFinding = <Name extends FaultName>(
  texts: FindingTexts,
  finding: Finding<Name>,
  figures: Figures,
): string => texts[finding.fault](finding, figures);

/**
 * `held`: what must hold was seen to hold. `broken`: it was seen not to. `unclear`: the fault did not come to pass,
 * so that nothing was shown.
 */
export interface Verdict {
  outcome: 'held' | 'broken' | 'unclear';
  finding: Finding;
}

/** Of what was seen: unclear where the fault did not happen, else held or broken. */
export const judged = (
  finding: Finding,
  seen: { hasHappened: boolean; holds: boolean },
): Verdict => {
  if (!seen.hasHappened) return { outcome: 'unclear', finding };
  return { outcome: seen.holds ? 'held' : 'broken', finding };
};
