/** What a fault was seen to do, in figures: a sentence of each stands in the text files. */
export type Finding =
  | {
      fault: 'drop';
      /** Last event before the cut and first after it; undefined: there was none. */
      cutAfter: number | undefined;
      resumedAt: number | undefined;
      /** Events that came twice, or out of order. */
      repeated: number;
      isSameText: boolean;
    }
  | { fault: 'resend'; sends: number; turns: number; answers: number; calls: number | undefined }
  | { fault: 'killChat'; turns: number; attempts: number; isAnswered: boolean; afterMs: number }
  | { fault: 'killWorker'; swaps: number; missing: number; afterMs: number }
  | {
      fault: 'quota' | 'unavailable';
      met: number;
      calls: number;
      turns: number;
      isAnswered: boolean;
    }
  | { fault: 'safety'; isKept: boolean; isInContext: boolean; isNextAnswered: boolean }
  | { fault: 'redeliver'; deliveries: number; acknowledged: number; swaps: number }
  | { fault: 'forgetful'; stated: number; missing: number; broughtBack: number }
  | {
      fault: 'inventive';
      figures: number;
      invented: readonly string[];
      repaired: number;
      dropped: number;
    }
  | {
      fault: 'threshold';
      state: string | undefined;
      turnsFolded: number;
      reason: string | undefined;
    };

export type FaultName = Finding['fault'];

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
