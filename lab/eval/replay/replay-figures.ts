import type { CompactionView, ReplayedConversation, Sent } from './replay-conversation.ts';

const swapped = new Set(['COMPACTED', 'CONTENT_TRUNCATED']);

/** Whether a compaction of the conversation was queued or running when the message was sent. */
function isDuringCompaction(
  sent: Pick<Sent, 'sentAt'>,
  compactions: readonly Pick<CompactionView, 'requestedAt' | 'finishedAt'>[],
): boolean {
  return compactions.some(
    ({ requestedAt, finishedAt }) =>
      sent.sentAt >= requestedAt && (!finishedAt || sent.sentAt <= finishedAt),
  );
}

/** The smallest value that at least `percent` of the values do not exceed (nearest rank); undefined for no values. */
function percentile(values: readonly number[], percent: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}

/** Count, median and 95th percentile in whole milliseconds; null where there is no value. */
function spreadOf(sends: readonly Sent[]) {
  const durationsMs = sends.map((sent) => sent.durationMs);
  const rounded = (value: number | undefined) => (value === undefined ? null : Math.round(value));
  return {
    n: durationsMs.length,
    p50Ms: rounded(percentile(durationsMs, 50)),
    p95Ms: rounded(percentile(durationsMs, 95)),
  };
}

/** Of all sends, and of those beside a compaction of their conversation and the others. */
function spreadsOf(replayed: readonly ReplayedConversation[]) {
  const sends = replayed.flatMap((each) =>
    each.sends.map((sent) => ({ sent, isDuring: isDuringCompaction(sent, each.compactions) })),
  );
  return {
    sends: spreadOf(sends.map(({ sent }) => sent)),
    sendsDuringCompaction: spreadOf(sends.flatMap((each) => (each.isDuring ? [each.sent] : []))),
    sendsOutsideCompaction: spreadOf(sends.flatMap((each) => (each.isDuring ? [] : [each.sent]))),
  };
}

/** Tokens of the first prompt that was built on the newest generation; null when none followed. */
function promptAfterLastSwap({ compactions, sends }: ReplayedConversation): number | null {
  const newest = compactions.findLast(({ state }) => swapped.has(state))?.generation;
  if (newest === undefined || newest === null) return null;
  const first = sends.find(({ answer }) => answer.generation === newest);
  return first?.answer.promptTokens ?? null;
}

function figuresOf(replayed: ReplayedConversation) {
  const { recordingId, conversationId, sends, compactions } = replayed;
  return {
    id: recordingId,
    conversationId,
    sent: sends.length,
    compactions: compactions.map((compaction) => ({
      generation: compaction.generation ?? null,
      state: compaction.state,
      trigger: compaction.trigger,
      beforeTokens: compaction.beforeTokens ?? 0,
      afterTokens: compaction.afterTokens ?? 0,
      turnsFolded: compaction.turnsFolded ?? 0,
      modelCalls: compaction.calls ?? 0,
      durationMs: compaction.durationMs ?? 0,
    })),
    ...spreadsOf([replayed]),
    retries: sends.reduce((sum, sent) => sum + sent.retries, 0),
    promptTokensAfterLastSwap: promptAfterLastSwap(replayed),
    thresholdTokens: sends.at(-1)?.answer.thresholdTokens ?? null,
  };
}

/** The figures of a whole replay, as `--json` writes them. */
export function replayFigures(replayed: readonly ReplayedConversation[]) {
  const problems = replayed.flatMap((each) => each.problems);
  const count = (...kinds: string[]): number =>
    problems.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    missing: count('missing'),
    outOfOrder: count('out-of-order'),
    altered: count('altered'),
    unexpected: count('unexpected', 'twice'),
    failed: replayed.filter(({ failure }) => failure !== undefined).length,
    ...spreadsOf(replayed),
    conversations: replayed.map(figuresOf),
  };
}
type ReplayFigures = ReturnType<typeof replayFigures>;

/** Everything that was sent and received stands in the transcript. */
export function isComplete(figures: ReplayFigures): boolean {
  const { missing, outOfOrder, altered, unexpected, failed } = figures;
  return missing + outOfOrder + altered + unexpected + failed === 0;
}

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en');

/** One compaction: why, from how much to how much, of how many turns, at which cost. */
function compactionText(compaction: CompactionView): string {
  const { beforeTokens, afterTokens, turnsFolded, calls, durationMs, reason } = compaction;
  return [
    `${compaction.state} (${compaction.trigger})`,
    `${number(beforeTokens)} → ${number(afterTokens)} tokens`,
    `${number(turnsFolded)} turns folded`,
    `${number(calls)} model calls`,
    `${number(durationMs)} ms`,
    ...(reason ? [reason] : []),
  ].join(', ');
}

/** What became of one conversation: its compactions, and its first problems. */
export function conversationText(replayed: ReplayedConversation): string {
  const { recordingId, sends, compactions, problems, failure } = replayed;
  return [
    `${recordingId}: ${number(sends.length)} messages answered`,
    ...compactions.map((compaction) => `  ${compactionText(compaction)}`),
    ...(failure === undefined ? [] : [`  failed: ${failure}`]),
    ...problems
      .slice(0, 10)
      .map(({ kind, message }) => `  ${kind}: ${message.role} message ${message.id}`),
  ].join('\n');
}

const spreadText = ({ n, p50Ms, p95Ms }: ReturnType<typeof spreadOf>): string =>
  n === 0 ? 'none' : `p50 ${number(p50Ms)} ms, p95 ${number(p95Ms)} ms (${number(n)} sends)`;

/** The closing lines of a replay. */
export function summaryText(figures: ReplayFigures): string {
  const { missing, outOfOrder, altered, unexpected, failed } = figures;
  const compactions = figures.conversations.flatMap((each) => each.compactions);
  return [
    `messages sent        ${number(figures.sends.n)} in ${figures.conversations.length} conversations`,
    `compactions          ${compactions.length}`,
    `sends                ${spreadText(figures.sends)}`,
    `  during compaction  ${spreadText(figures.sendsDuringCompaction)}`,
    `  outside            ${spreadText(figures.sendsOutsideCompaction)}`,
    `missing ${missing}, out of order ${outOfOrder}, altered ${altered}, unexpected ${unexpected}, conversations failed ${failed}`,
  ].join('\n');
}
