import { judged, type Findings, type Verdict } from './finding.ts';

const distinct = (values: readonly string[]): number => new Set(values).size;

/** A stream whose connection was reset: exactly the rest came over the next one. */
export function judgeDrop(seen: {
  /** Ids of the events, for each connection in its order. */
  connections: readonly (readonly number[])[];
  /** What the stream said, and what the transcript holds afterwards. */
  streamedText: string;
  storedText: string;
}): Verdict {
  const ids = seen.connections.flat();
  const [before = [], ...after] = seen.connections.filter(({ length }) => length > 0);
  const repeated = ids.filter((id, index) => id <= (ids[index - 1] ?? -1)).length;
  const isSameText = seen.streamedText === seen.storedText;
  const [cutAfter, resumedAt] = [before.at(-1), after[0]?.[0]];
  const finding = { fault: 'drop', cutAfter, resumedAt, repeated, isSameText } as const;
  const hasHappened = after.length > 0 || !isSameText;
  return judged(finding, { hasHappened, holds: repeated === 0 && isSameText });
}

/** The same message, several times at once: one turn, one answer, one call of the model. */
export function judgeResend(seen: {
  turnIds: readonly string[];
  answers: readonly string[];
  /** Turns of the conversation afterwards. */
  turns: number;
  /** Undefined where nobody counts calls. */
  calls: number | undefined;
}): Verdict {
  const { calls, turns } = seen;
  const sends = seen.turnIds.length;
  const answers = distinct(seen.answers);
  const finding = { fault: 'resend', sends, turns, answers, calls } as const;
  const isOneTurn = turns === 1 && distinct(seen.turnIds) === 1;
  const holds = isOneTurn && answers === 1 && (calls === undefined || calls === 1);
  return judged(finding, { hasHappened: sends > 1, holds });
}

/** The process that answered is gone: the same message gets the answer of the same turn. */
export function judgeKilledChat(seen: Findings['killChat'] & { wasCut: boolean }): Verdict {
  const { wasCut, ...finding } = seen;
  const holds = finding.turns === 1 && finding.isAnswered;
  return judged({ fault: 'killChat', ...finding }, { hasHappened: wasCut, holds });
}

/** A model that refuses for a moment is asked again, and the user notices nothing. */
export function judgeRefusals(seen: {
  fault: 'quota' | 'unavailable';
  /** How each call of the turn ended: the kind of a fault, or undefined for an answer. */
  calls: readonly (string | undefined)[];
  turns: number;
  isAnswered: boolean;
}): Verdict {
  const { fault, turns, isAnswered } = seen;
  const met = seen.calls.filter((call) => call === fault).length;
  const finding = { fault, met, calls: seen.calls.length, turns, isAnswered };
  return judged(finding, { hasHappened: met > 0, holds: turns === 1 && isAnswered });
}

/** An answer that the model's safety filter ended: kept for the user, out of the model's sight. */
export function judgeBlocked(
  seen: Findings['safety'] & { finishReason: string | undefined },
): Verdict {
  const { finishReason, ...finding } = seen;
  const hasHappened = finishReason === 'content-filter';
  const holds = finding.isKept && !finding.isInContext && finding.isNextAnswered;
  return judged({ fault: 'safety', ...finding }, { hasHappened, holds });
}
