import { setTimeout as delay } from 'node:timers/promises';
import type { ChatClient, CompactionView } from './chat-client.ts';
import { ChatRequestError } from './chat-request-error.ts';
import type { ScriptedConversation } from './scripted-answers.ts';
import { type Sent, sendWithRetries } from './send-with-retries.ts';
import { stableUuid } from './stable-uuid.ts';
import {
  checkTranscript,
  type TranscriptMessage,
  type TranscriptProblem,
} from './transcript-check.ts';

const settleTimeoutMs = 180_000;
const settlePollMs = 100;
/** How often, at most, a conversation is asked for its compactions while messages are sent. */
const watchIntervalMs = 1_000;

const unsettledStates = new Set(['QUEUED', 'RUNNING', 'VERIFYING']);

interface ReplayListener {
  sent(count: number): void;
  compaction(compaction: CompactionView): void;
}

export interface ReplayedConversation {
  conversation: ScriptedConversation;
  sends: Sent[];
  compactions: CompactionView[];
  problems: TranscriptProblem[];
  /** Why the replay is not complete: the send after which no further one was tried, or no end of a compaction. */
  failure?: string;
}

interface ReplayRun {
  client: ChatClient;
  seed: string;
  settings: object;
  listener: ReplayListener;
}

/** Tells of each compaction once. */
class CompactionWatch {
  #told = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  readonly #ask: () => Promise<CompactionView[]>;
  readonly #tell: (compaction: CompactionView) => void;

  constructor(ask: () => Promise<CompactionView[]>, tell: (compaction: CompactionView) => void) {
    this.#ask = ask;
    this.#tell = tell;
  }

  async look(options: { isForced: boolean }): Promise<CompactionView[]> {
    if (!options.isForced && performance.now() - this.#askedAt < watchIntervalMs) return [];
    this.#askedAt = performance.now();
    const compactions = await this.#ask();
    for (const compaction of compactions.slice(this.#told)) this.#tell(compaction);
    this.#told = Math.max(this.#told, compactions.length);
    return compactions;
  }
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
    if (performance.now() - startedAt > settleTimeoutMs)
      return `the compaction is still ${compaction.state} ${settleTimeoutMs / 1_000} s after the last message`;
    await delay(settlePollMs);
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
  const { client, listener } = run;
  const { conversationId, script } = conversation;
  const { systemInstruction } = conversation;
  await client.createConversation({
    id: conversationId,
    settings: run.settings,
    ...(systemInstruction !== undefined && { systemInstruction }),
  });
  const watch = new CompactionWatch(
    () => client.listCompactions(conversationId),
    (compaction) => listener.compaction(compaction),
  );
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
      listener.sent(1);
      await watch.look({ isForced: false });
    } catch (error) {
      if (!(error instanceof ChatRequestError)) throw error;
      failure = `message ${index + 1} of ${script.exchanges.length}: ${error.message}`;
      break;
    }
  }
  failure ??= await waitUntilSettled(client, conversationId);
  const compactions = await watch.look({ isForced: true });
  const problems = checkTranscript(expected, await client.listMessages(conversationId));
  return {
    conversation,
    sends,
    compactions,
    problems,
    ...(failure !== undefined && { failure }),
  };
}
