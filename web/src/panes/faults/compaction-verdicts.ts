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

/** A number with its separators, up to the mark behind the word that it is part of, where there is one. */
const writtenNumber = /(?<number>\d+(?:[.,:/-]\d+)*)(?:[^\s⁇]*(?<mark>⁇))?/g;
const threeDigits = /\d{3}/;

interface LongNumber {
  number: string;
  isMarked: boolean;
}

/** The numbers of a text that have three digits in a row, as they are written. */
export const longNumbers = (text: string): LongNumber[] =>
  [...text.matchAll(writtenNumber)]
    .map(({ groups }) => ({
      number: groups?.['number'] ?? '',
      isMarked: groups?.['mark'] !== undefined,
    }))
    .filter(({ number }) => threeDigits.test(number));

/** A long number that no message holds stands in a snapshot with a mark behind it, or not at all. */
export function judgeInventive(seen: {
  /** The statements of the snapshot, without the frame around them. */
  snapshot: string | undefined;
  transcript: string;
  /** Values that the report of the compaction names as said by nobody. */
  marked: number;
}): Verdict {
  const { snapshot, transcript, marked } = seen;
  const numbers = longNumbers(snapshot ?? '');
  const said = new Set(longNumbers(transcript).map(({ number }) => number));
  const unmarked = numbers
    .filter(({ number, isMarked }) => !isMarked && !said.has(number))
    .map(({ number }) => number);
  const finding = { fault: 'inventive', figures: numbers.length, marked, unmarked } as const;
  // A model that invented nothing shows nothing, one whose inventions were not met shows a defect.
  const hasHappened = snapshot !== undefined && marked + unmarked.length > 0;
  return judged(finding, { hasHappened, holds: unmarked.length === 0 });
}

/** A crossing of the threshold is followed by a compaction or a recorded reason. */
export function judgeThreshold(seen: Findings['threshold'] & { wasCrossed: boolean }): Verdict {
  const { wasCrossed, ...finding } = seen;
  const { state, reason } = finding;
  const holds = state === 'COMPACTED' || (state !== undefined && reason !== undefined);
  return judged({ fault: 'threshold', ...finding }, { hasHappened: wasCrossed, holds });
}
