import type { CompactionView } from './chat-client.ts';
import type { Spread } from './percentiles.ts';
import type { Script } from './recording.ts';
import type { ReplayedConversation } from './replay-conversation.ts';
import type { ConversationFigures, ReplayFigures } from './replay-figures.ts';

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en');

/** One compaction: why, from how much to how much, of how many turns, at which cost. */
export function compactionText(compaction: CompactionView): string {
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

/** What of a recording is replayed otherwise than it was recorded; undefined when nothing is. */
export function scriptText(script: Script): string | undefined {
  const { leftOut, mergedContents, splitParts } = script;
  const notes = [
    [mergedContents, 'contents merged with their neighbour of the same role'],
    [splitParts, 'times a text was split because it is longer than a part may be'],
    [leftOut.toolCalls, 'tool calls left out'],
    [leftOut.toolResponses, 'tool responses left out'],
    [leftOut.otherParts, 'parts without text left out'],
    [leftOut.openingAnswers, 'contents of the model before the first user message left out'],
  ] as const;
  const said = notes
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${number(count)} ${what}`);
  return said.length > 0 ? said.join('; ') : undefined;
}

const spreadText = ({ n, p50Ms, p95Ms }: Spread): string =>
  n === 0 ? 'none' : `p50 ${number(p50Ms)} ms, p95 ${number(p95Ms)} ms (${number(n)} sends)`;

function promptText(figures: ConversationFigures): string {
  const { promptTokensAfterLastSwap: tokens, thresholdTokens } = figures;
  if (tokens === null) return 'no message followed the last swap';
  return `first prompt after the last swap ${number(tokens)} tokens, threshold ${number(thresholdTokens)}`;
}

/** The first problems of a conversation, one a line. */
export function problemLines(replayed: ReplayedConversation): string[] {
  const lines = replayed.problems
    .slice(0, 10)
    .map(({ kind, message }) => `  ${kind}: ${message.role} message ${message.id}`);
  const more = replayed.problems.length - lines.length;
  return [
    ...(replayed.failure ? [`  failed: ${replayed.failure}`] : []),
    ...lines,
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

/** The closing lines of a replay. */
export function summaryText(figures: ReplayFigures): string {
  const { missing, outOfOrder, altered, unexpected, failed } = figures;
  const compactions = figures.conversations.flatMap((each) => each.compactions);
  const failures = compactions.filter(({ state }) => state.startsWith('FAILED')).length;
  const perConversation = figures.conversations
    .filter((each) => each.compactions.length > 0)
    .map((each) => `  ${each.id}: ${promptText(each)}`);
  return [
    '',
    `messages sent        ${number(figures.sends.n)} in ${figures.conversations.length} conversations`,
    `compactions          ${compactions.length}${failures > 0 ? `, of which ${failures} failed` : ''}`,
    `sends                ${spreadText(figures.sends)}`,
    `  during compaction  ${spreadText(figures.sendsDuringCompaction)}`,
    `  outside            ${spreadText(figures.sendsOutsideCompaction)}`,
    ...perConversation,
    `missing ${missing}, out of order ${outOfOrder}, altered ${altered}, unexpected ${unexpected}, conversations failed ${failed}`,
  ].join('\n');
}
