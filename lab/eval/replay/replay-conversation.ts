import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  sendWithRetries,
  type ChatClient,
  type CompactionView,
  type Sent,
  type TranscriptMessage,
} from './chat-client.ts';
import { ChatRequestError } from './chat-request-error.ts';
import type { Script } from './recording.ts';

const SETTLE_TIMEOUT_MS = 180_000;
const SETTLE_POLL_MS = 100;
/** How often, at most, a conversation is asked for its compactions while messages are sent. */
const WATCH_INTERVAL_MS = 1_000;

const unsettledStates = new Set(['QUEUED', 'RUNNING', 'VERIFYING']);

export interface ScriptedConversation {
  /** Id of the recording. */
  recordingId: string;
  /** Id under which the service knows the conversation. */
  conversationId: string;
  systemInstruction?: string | undefined;
  script: Script;
}

export interface ReplayedConversation {
  conversation: ScriptedConversation;
  sends: Sent[];
  compactions: CompactionView[];
  problems: TranscriptProblem[];
  /** Why the replay is not complete: the send after which no further one was tried, or no end of a compaction. */
  failure?: string | undefined;
}

interface ReplayRun {
  client: ChatClient;
  seed: string;
  settings: object;
  listener: { sent(): void; compaction(compaction: CompactionView): void };
}

/**
 * A UUID that depends on `seed` alone, shaped as version 4, so that a replay that was cut off can be run
 * again and continues where it was: known messages are replayed by the service, not sent twice.
 */
export function stableUuid(seed: string): string {
  const bytes = createHash('sha256').update(seed).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}

interface TranscriptProblem {
  kind: 'missing' | 'altered' | 'out-of-order' | 'unexpected' | 'twice';
  message: TranscriptMessage;
}

/**
 * Compares what a client sent and received with the transcript that the service keeps: every message
 * once, with its text, behind the one before, and nothing else.
 */
export function checkTranscript(
  expected: readonly TranscriptMessage[],
  stored: readonly TranscriptMessage[],
): TranscriptProblem[] {
  const problems: TranscriptProblem[] = [];
  const positions = new Map<string, number>();
  for (const [index, message] of stored.entries()) {
    if (positions.has(message.id)) problems.push({ kind: 'twice', message });
    else positions.set(message.id, index);
  }
  let before = -1;
  for (const message of expected) {
    const position = positions.get(message.id);
    const found = position === undefined ? undefined : stored[position];
    if (position === undefined || found === undefined) {
      problems.push({ kind: 'missing', message });
      continue;
    }
    if (found.text !== message.text || found.role !== message.role)
      problems.push({ kind: 'altered', message });
    if (position < before) problems.push({ kind: 'out-of-order', message });
    before = position;
  }
  const known = new Set(expected.map(({ id }) => id));
  for (const message of stored)
    if (!known.has(message.id)) problems.push({ kind: 'unexpected', message });
  return problems;
}

/** Tells of each compaction once; looks only now and then, unless it is forced. */
function watchCompactions({ client, listener }: ReplayRun, conversationId: string) {
  let told = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  return async (options: { isForced: boolean }): Promise<CompactionView[]> => {
    if (!options.isForced && performance.now() - askedAt < WATCH_INTERVAL_MS) return [];
    askedAt = performance.now();
    const compactions = await client.listCompactions(conversationId);
    for (const compaction of compactions.slice(told)) listener.compaction(compaction);
    told = Math.max(told, compactions.length);
    return compactions;
  };
}

/** Waits until no compaction is under way; says which state it gave up on after three minutes. */
async function waitUntilSettled(
  client: ChatClient,
  conversationId: string,
): Promise<string | undefined> {
  const startedAt = performance.now();
  for (;;) {
    const { compaction } = await client.getContext(conversationId);
    if (!compaction || !unsettledStates.has(compaction.state)) return undefined;
    if (performance.now() - startedAt > SETTLE_TIMEOUT_MS)
      return `the compaction is still ${compaction.state} ${SETTLE_TIMEOUT_MS / 1_000} s after the last message`;
    await delay(SETTLE_POLL_MS);
  }
}

/**
 * Sends one conversation message by message, each after the answer to the one before, waits until no
 * compaction is under way, and compares the transcript with what was sent and received. A message that
 * is refused for good ends the sending; the comparison is made all the same.
 */
export async function replayConversation(
  run: ReplayRun,
  conversation: ScriptedConversation,
): Promise<ReplayedConversation> {
  const { client, listener, settings } = run;
  const { conversationId, script, systemInstruction } = conversation;
  await client.createConversation({ id: conversationId, settings, systemInstruction });
  const look = watchCompactions(run, conversationId);
  const sends: Sent[] = [];
  const expected: TranscriptMessage[] = [];
  let failure: string | undefined;
  for (const [index, { userTexts }] of script.exchanges.entries()) {
    const messageId = stableUuid(`${run.seed}/${conversationId}/${index}`);
    try {
      const sent = await sendWithRetries(client, { conversationId, messageId, texts: userTexts });
      sends.push(sent);
      expected.push(
        { id: messageId, role: 'user', text: userTexts.join('') },
        { id: sent.answer.messageId, role: 'model', text: sent.answer.text },
      );
      listener.sent();
      await look({ isForced: false });
    } catch (error) {
      if (!(error instanceof ChatRequestError)) throw error;
      failure = `message ${index + 1} of ${script.exchanges.length}: ${error.message}`;
      break;
    }
  }
  failure ??= await waitUntilSettled(client, conversationId);
  const compactions = await look({ isForced: true });
  const problems = checkTranscript(expected, await client.listMessages(conversationId));
  return { conversation, sends, compactions, problems, failure };
}
