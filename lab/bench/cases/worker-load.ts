import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { once } from '#shared/once.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { buildConversation, madeUpAnswer } from '#test/support/compaction/conversation-builder.ts';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { benchTurns } from '../bench-conversation.ts';
import { runHost, startFreeModel, startFakeGeminiHost } from '../hosts/start-host.ts';
import { countReplay } from '../worlds/count-replay.ts';
import { startEmulatedChat } from '../worlds/emulated-chat.ts';
import { manualRequest } from '#test/support/compaction/compacted-conversation.ts';

/** About 1,000 tokens a turn. */
const LARGE_TURNS = 581;

const scriptOf = (name: string) => fileURLToPath(new URL(`../hosts/${name}.ts`, import.meta.url));
const memorySchema = z.object({
  idleBytes: z.number(),
  peakBytes: z.number(),
  ms: z.number(),
  state: z.string().optional(),
});

const throughputSchema = z.object({ perSecond: z.number(), processorMs: z.number() });

/** Conversations a second that one worker compacts, whose model answers at once. */
async function compactedPerSecond(tell: (text: string) => void): Promise<number> {
  const model = await startFreeModel();
  try {
    const message = await runHost(scriptOf('worker-throughput'), {}, [model.url]);
    const { perSecond, processorMs } = throughputSchema.parse(message);
    tell(`${processorMs.toFixed(1)} ms of processor a conversation, all threads together`);
    return perSecond;
  } finally {
    await model.close();
  }
}

/** MiB above idle that a worker comes to when it compacts a conversation of 581,000 tokens. */
async function peakMiB(tell: (text: string) => void): Promise<number> {
  const world = await startEmulatedChat();
  const fakeGemini = await startFakeGeminiHost();
  try {
    const store = world.counted.store;
    const small = await buildConversation(store, {
      turns: 60,
      conversation: { compactionRequests: manualRequest('bench') },
    });
    const turns = Array.from({ length: LARGE_TURNS }, (_, index) => ({
      answer: Array.from({ length: 9 }, (__, part) => madeUpAnswer(9 * index + part)).join('\n'),
    }));
    const large = await buildConversation(store, {
      turns,
      conversation: { compactionRequests: manualRequest('bench') },
    });
    const tokens = large.conversation.context.tokens;
    const message = await runHost(scriptOf('worker-memory'), {}, [
      fakeGemini.url,
      small.conversationId,
      large.conversationId,
    ]);
    const { idleBytes, peakBytes, ms, state } = memorySchema.parse(message);
    const mib = (bytes: number) => Math.round(bytes / 2 ** 20);
    tell(
      `${tokens} tokens, ${state ?? 'nothing'} in ${Math.round(ms)} ms, ${mib(idleBytes)} MiB idle`,
    );
    return (peakBytes - idleBytes) / 2 ** 20;
  } finally {
    await Promise.all([fakeGemini.close(), world.close()]);
  }
}

/** Tokens of a compaction's calls, and of two calls over the whole history. */
const compactionTokens = once(async () => {
  const turns = benchTurns(1_200, 'chat').map(({ user, contents }) => ({
    user: contentText(user),
    answer: contents.map(contentText).join('\n'),
  }));
  const model = 'gemini-2.5-flash';
  const counted = await countReplay(turns, { model, thresholdTokens: 24_000 });
  const { readFactor, outputTokens, calls } = counted.compaction;
  const { beforeTokens } = counted;
  return {
    ours: readFactor * beforeTokens + outputTokens,
    reference: 2 * beforeTokens,
    note: `${calls.toFixed(1)} calls, ${counted.compactions} compactions`,
  };
});

/** What a worker takes for compactions of whole conversations. */
export function workerGroup(): BenchGroup {
  let tokensNote = '';
  let throughputNote = '';
  let memoryNote = '';
  const cases: BenchCase[] = [
    {
      name: 'compaction-tokens',
      unit: 'tokens',
      referenceName: 'two calls over the whole history, as Gemini CLI makes them',
      direction: 'atMost',
      aim: 0.6,
      samples: 1,
      ours: async () => {
        const { ours, note } = await compactionTokens();
        tokensNote = note;
        return ours;
      },
      reference: async () => (await compactionTokens()).reference,
      note: () => tokensNote,
    },
    {
      name: 'throughput',
      unit: '1/s',
      referenceName: 'one conversation a second',
      direction: 'atLeast',
      aim: 50,
      samples: 3,
      ours: () => compactedPerSecond((text) => (throughputNote = text)),
      reference: () => 1,
      note: () => throughputNote,
    },
    {
      name: 'worker-memory',
      unit: 'MiB',
      referenceName: 'one MiB above idle',
      direction: 'atMost',
      aim: 256,
      samples: 1,
      isLong: true,
      ours: () => peakMiB((text) => (memoryNote = text)),
      reference: () => 1,
      note: () => memoryNote,
    },
  ];
  return { name: 'worker', title: 'The worker', cases };
}
