import { randomUUID } from 'node:crypto';
import { type EmbeddedHost, startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { ChatClient } from '../replay/chat-client.ts';
import { copyConversation, withoutSnapshot } from '../replay/copy-conversation.ts';
import { type ChosenProbe, foldedProbes } from './probe-selection.ts';
import { scriptedAnswers, type ScriptedConversation } from '../answers/scripted-answers.ts';
import type { Probe } from '../replay/recording.ts';
import { replayConversation } from '../replay/replay-conversation.ts';
import { sendWithRetries } from '../replay/send-with-retries.ts';
import { stableUuid } from '../stable-uuid.ts';

export type ProbedState = 'before' | 'after' | 'blanked';

interface ProbedConversation {
  conversation: ScriptedConversation;
  probes: readonly Probe[];
}

/** A conversation as it stands in the store, once whole and once compacted. */
export interface Prepared {
  id: string;
  wholeId: string;
  compactedId: string;
  compactions: number;
  /** All turns up to this one are folded. */
  foldedThrough: number;
  probes: ChosenProbe[];
}

export interface ProbeBench {
  prepare(probed: ProbedConversation, onSent: (count: number) => void): Promise<Prepared>;
  /** The reply to a question, asked on a copy of its own: no probe sees another one. */
  ask(prepared: Prepared, state: ProbedState, probe: ChosenProbe): Promise<string>;
  stop(): Promise<void>;
}

const messageTimeoutMs = 60_000;

interface Bench {
  host: EmbeddedHost;
  fakeGemini: FakeGemini;
  client: ChatClient;
}

async function build(
  bench: Bench,
  conversation: ScriptedConversation,
  run: { name: string; settings: object; onSent: (count: number) => void },
): Promise<{ conversationId: string; compactions: number }> {
  const conversationId = stableUuid(`${run.name}/${conversation.conversationId}`);
  // Ordinals count from the first send of a text: each run begins anew.
  bench.fakeGemini.clearAnswers();
  bench.fakeGemini.registerAnswers(...scriptedAnswers([conversation]));
  const replayed = await replayConversation(
    {
      client: bench.client,
      seed: run.name,
      settings: run.settings,
      listener: { sent: run.onSent, compaction: () => undefined },
    },
    { ...conversation, conversationId },
  );
  const problem = replayed.failure ?? replayed.problems[0]?.kind;
  if (problem !== undefined)
    throw new Error(`${conversation.recordingId} could not be built up (${run.name}): ${problem}`);
  return { conversationId, compactions: replayed.compactions.length };
}

/** Builds a conversation up twice, once with compactions. */
async function prepare(
  bench: Bench,
  { conversation, probes }: ProbedConversation,
  { thresholdTokens, onSent }: { thresholdTokens: number; onSent: (count: number) => void },
): Promise<Prepared> {
  const off = { compaction: 'off' };
  const whole = await build(bench, conversation, { name: 'whole', settings: off, onSent });
  const compacted = await build(bench, conversation, {
    name: 'compacted',
    settings: { thresholdTokens },
    onSent,
  });
  const [document] = await bench.host.store.get([conversationPath(compacted.conversationId)]);
  const foldedThrough = document ? decodeConversation(document).value.coveredThrough.seq : 0;
  return {
    id: conversation.recordingId,
    wholeId: whole.conversationId,
    compactedId: compacted.conversationId,
    compactions: compacted.compactions,
    foldedThrough,
    probes: foldedProbes({ probes, script: conversation.script, foldedThrough }),
  };
}

/** Asks on a copy of a conversation. */
async function askCopy(
  { host, client }: Bench,
  probe: ChosenProbe,
  { from, change }: { from: string; change: Parameters<typeof copyConversation>[2] },
): Promise<string> {
  const conversationId = await copyConversation(host.store, from, change);
  const question = `Question: ${probe.question.trim().replace(/[.?]*$/, '?')}`;
  const { answer } = await sendWithRetries(client, {
    conversationId,
    messageId: randomUUID(),
    texts: [question],
  });
  return answer.text;
}

/** A chat service in this process, with a fake model that only knows what its prompt says. */
export async function startProbeBench(thresholdTokens: number): Promise<ProbeBench> {
  const fakeGemini = await startFakeGemini();
  const host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'stand-in' },
      fakeGeminiUrl: fakeGemini.url,
      settings: {
        MAX_PART_BYTES: '900000',
        MAX_MESSAGE_BYTES: '2000000',
        // Prompts are those that were recorded.
        TELL_TIME: 'with-context',
      },
    }),
    overrides: { logger: { log: () => undefined } },
  });
  const client = new ChatClient({
    url: host.chatUrl,
    token: unsignedToken({ uid: 'probes', projectId: localProjectId, now: new Date() }),
    transport: 'sse',
    timeoutMs: messageTimeoutMs,
  });
  const bench = { host, fakeGemini, client };

  return {
    prepare: (probed, onSent) => prepare(bench, probed, { thresholdTokens, onSent }),
    ask: async (prepared, state, probe) => {
      const from = state === 'before' ? prepared.wholeId : prepared.compactedId;
      return askCopy(bench, probe, {
        from,
        change: state === 'blanked' ? withoutSnapshot : undefined,
      });
    },
    stop: async () => {
      await host.stop();
      await fakeGemini.close();
    },
  };
}
