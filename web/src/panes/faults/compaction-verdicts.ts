import { judged, type Findings, type Verdict } from './finding.ts';

/** A worker that was killed at its work: the next one ends it, once, and no message is lost. */
export function judgeKilledWorker(seen: {
  /** State of the compaction when its worker was killed. */
  stateAtKill: string | undefined;
  swaps: number;
  /** User messages that were sent, and those that the transcript holds. */
  sent: readonly string[];
  stored: readonly string[];
  afterMs: number;
}): Verdict {
  const missing = seen.sent.filter((text) => !seen.stored.includes(text)).length;
  const { swaps, afterMs } = seen;
  const finding = { fault: 'killWorker', swaps, missing, afterMs } as const;
  const hasHappened = seen.stateAtKill === 'RUNNING' || seen.stateAtKill === 'VERIFYING';
  return judged(finding, { hasHappened, holds: swaps === 1 && missing === 0 });
}

/** An event that comes again has nothing left to do: every delivery is acknowledged, and nothing is folded twice. */
export function judgeRedelivery(seen: {
  /** HTTP code of each delivery. */
  codes: readonly number[];
  /** Swaps of the same compaction. */
  swaps: number;
}): Verdict {
  const { codes, swaps } = seen;
  const deliveries = codes.length;
  const acknowledged = codes.filter((code) => code >= 200 && code < 300).length;
  const finding = { fault: 'redeliver', deliveries, acknowledged, swaps } as const;
  const holds = acknowledged === deliveries && swaps === 1;
  return judged(finding, { hasHappened: deliveries > 0 && swaps > 0, holds });
}

/** What the user stated and a forgetful summary left out is put back by code. */
export function judgeForgetful(seen: {
  /** Names and numbers that the user stated, and all that the model sees now. */
  stated: readonly string[];
  context: string;
  /** Sentences that code put back; undefined: no compaction was made. */
  broughtBack: number | undefined;
}): Verdict {
  const stated = seen.stated.length;
  const missing = seen.stated.filter((name) => !seen.context.includes(name)).length;
  const { broughtBack = 0 } = seen;
  // A summary that left nothing out shows nothing; that something is missing shows a defect.
  const hasHappened = seen.broughtBack !== undefined && broughtBack + missing > 0;
  const finding = { fault: 'forgetful', stated, missing, broughtBack } as const;
  return judged(finding, { hasHappened, holds: missing === 0 });
}

/** Every figure of a text, as it is written: dates, times and amounts are one figure each. */
export const listFigures = (text: string): string[] => [
  ...new Set([...text.matchAll(/\d+(?:[.,:/-]\d+)*/g)].map(([figure]) => figure)),
];

/** A figure that no message holds does not get into a snapshot. */
export function judgeInventive(seen: {
  /** The statements of the snapshot, without the frame around them. */
  snapshot: string | undefined;
  transcript: string;
  repaired: number;
  dropped: number;
}): Verdict {
  const written = listFigures(seen.snapshot ?? '');
  const said = new Set(listFigures(seen.transcript));
  const invented = written.filter((figure) => !said.has(figure));
  const { repaired, dropped } = seen;
  const figures = written.length;
  const finding = { fault: 'inventive', figures, invented, repaired, dropped } as const;
  // A model that invented nothing shows nothing, one whose inventions were not met shows a defect.
  const hasHappened = seen.snapshot !== undefined && repaired + dropped + invented.length > 0;
  return judged(finding, { hasHappened, holds: invented.length === 0 });
}

/** A crossing of the threshold is followed by a compaction or a recorded reason. */
export function judgeThreshold(seen: Findings['threshold'] & { wasCrossed: boolean }): Verdict {
  const { wasCrossed, ...finding } = seen;
  const { state, reason } = finding;
  const holds = state === 'COMPACTED' || (state !== undefined && reason !== undefined);
  return judged({ fault: 'threshold', ...finding }, { hasHappened: wasCrossed, holds });
}
