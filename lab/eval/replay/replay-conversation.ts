import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import {
  pathOf,
  type Answered,
  type ChatClient,
  type OutgoingMessage,
} from '#lab/chat-client/client.ts';
import { contentText, partSchema } from '#shared/models/content.ts';
import type { Exchange } from './recording.ts';

const compactionSchema = z.looseObject({
  generation: z.number().nullish(),
  state: z.string(),
  trigger: z.string(),
  requestedAt: z.coerce.date(),
  finishedAt: z.coerce.date().nullish(),
  turnsFolded: z.number().nullish(),
  beforeTokens: z.number().nullish(),
  afterTokens: z.number().nullish(),
  calls: z.number().nullish(),
  durationMs: z.number().nullish(),
  reason: z.string().nullish(),
});
export type CompactionView = z.infer<typeof compactionSchema>;

const compactionPageSchema = z.looseObject({
  compactions: z.array(compactionSchema),
  nextPageToken: z.string().optional(),
});

const messagePageSchema = z.looseObject({
  messages: z.array(
    z.looseObject({ id: z.string(), role: z.enum(['user', 'model']), parts: z.array(partSchema) }),
  ),
  nextPageToken: z.string().optional(),
});

const conversationSchema = z.looseObject({
  context: z.looseObject({ compaction: z.looseObject({ state: z.string() }).nullable() }),
});

/** A message as the transcript shows it, or as the client remembers it. */
export interface TranscriptMessage {
  id: string;
  role: 'user' | 'model';
  text: string;
}

/** The whole transcript, oldest first. */
async function listMessages(
  client: ChatClient,
  conversationId: string,
): Promise<TranscriptMessage[]> {
  const path = pathOf(conversationId, '/messages?order=asc');
  const pages = await client.readPages(path, messagePageSchema);
  return pages.flatMap(({ messages }) =>
    messages.map(({ id, role, parts }) => ({ id, role, text: contentText({ role, parts }) })),
  );
}

/** Every attempt, in the order in which they ended; several may serve one request. */
async function listCompactions(
  client: ChatClient,
  conversationId: string,
): Promise<CompactionView[]> {
  const pages = await client.readPages(
    pathOf(conversationId, '/compactions'),
    compactionPageSchema,
  );
  const endOf = ({ requestedAt, finishedAt }: CompactionView): number =>
    (finishedAt ?? requestedAt).getTime();
  return pages.flatMap((page) => page.compactions).toSorted((a, b) => endOf(a) - endOf(b));
}

const GIVE_UP_AFTER_MS = 120_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/** One message as it was sent and answered in the end. */
export interface Sent {
  answer: Answered;
  /** When the first try left, and how long it took to the end of the answer, retries included. */
  sentAt: Date;
  durationMs: number;
  retries: number;
}

/**
 * Sends until the message is answered, as an app does: the same message id, after the time that
 * Retry-After names, else after 250 ms and twice as long each time. Gives up after two minutes, or when another try cannot
 * help; says why.
 */
async function sendWithRetries(
  client: ChatClient,
  message: OutgoingMessage,
): Promise<Sent | { failure: string }> {
  const sentAt = new Date();
  const startedAt = performance.now();
  for (let retries = 0; ; retries += 1) {
    const result = await client.send(message, { transport: 'sse' });
    const durationMs = performance.now() - startedAt;
    if (result.kind === 'answered') return { answer: result, sentAt, durationMs, retries };
    if (result.kind === 'odd') return { failure: result.what };
    if (result.kind === 'failed') return { failure: `${result.reason} ${result.explanation}` };
    if (durationMs > GIVE_UP_AFTER_MS) return { failure: result.why };
    const backOffMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** retries);
    await delay(result.retryAfterMs ?? backOffMs);
  }
}

const SETTLE_TIMEOUT_MS = 180_000;
const SETTLE_POLL_MS = 100;

const unsettledStates = new Set(['QUEUED', 'RUNNING', 'VERIFYING']);

export interface ScriptedConversation {
  /** Id of the recording. */
  recordingId: string;
  systemInstruction?: string | undefined;
  exchanges: readonly Exchange[];
}

export interface ReplayedConversation {
  recordingId: string;
  /** Id under which the service knows the conversation. */
  conversationId: string;
  sends: Sent[];
  compactions: CompactionView[];
  problems: TranscriptProblem[];
  /** Why the replay is not complete: the send after which no further one was tried, or no end of a compaction. */
  failure?: string | undefined;
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

/** Waits until no compaction is under way; says which state it gave up on after three minutes. */
async function waitUntilSettled(
  client: ChatClient,
  conversationId: string,
): Promise<string | undefined> {
  const startedAt = performance.now();
  for (;;) {
    const conversation = await client.read(pathOf(conversationId), conversationSchema);
    const compaction = conversation?.context.compaction;
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
  client: ChatClient,
  settings: object,
  { recordingId, exchanges, systemInstruction }: ScriptedConversation,
): Promise<ReplayedConversation> {
  const conversationId = randomUUID();
  const created = { id: conversationId, settings, systemInstruction };
  const reply = await client.ask('POST', '/v1/conversations', created);
  if (reply === undefined || reply.status >= 400)
    throw new Error(`no conversation could be created: ${JSON.stringify(reply)}`);
  const sends: Sent[] = [];
  const expected: TranscriptMessage[] = [];
  let failure: string | undefined;
  for (const [index, { user: text }] of exchanges.entries()) {
    const messageId = randomUUID();
    const sent = await sendWithRetries(client, { conversationId, messageId, text });
    if ('failure' in sent) {
      failure = `message ${index + 1} of ${exchanges.length}: ${sent.failure}`;
      break;
    }
    sends.push(sent);
    expected.push(
      { id: messageId, role: 'user', text },
      { id: `m_${sent.answer.seq}`, role: 'model', text: sent.answer.text },
    );
  }
  failure ??= await waitUntilSettled(client, conversationId);
  const compactions = await listCompactions(client, conversationId);
  const problems = checkTranscript(expected, await listMessages(client, conversationId));
  return { recordingId, conversationId, sends, compactions, problems, failure };
}
