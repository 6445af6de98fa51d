import { createHash, randomUUID } from 'node:crypto';
import { createMemoryCache } from '#functions/adapters/system/memory-cache.ts';
import { environmentSchema } from '#functions/config/environment.ts';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { sweepEvent } from '#shared/compaction/decisions/event.ts';
import type { ConversationCache } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore, EventPublisher } from '#shared/ports/ports.ts';
import { eventually } from '#test/support/eventually.ts';
import type { DocumentCounts, Operations } from './document-counts.ts';

/** About 300 tokens, of sentences that do not repeat each other: a loop would be cut short. */
const ANSWER = [
  ['The harbour', 'A narrow lane', 'One of the cafés', 'The old market', 'Every second boat'],
  [
    'is quiet before seven',
    'fills up towards noon',
    'smells of coffee and salt',
    'shuts on Mondays',
  ],
]
  .reduce((starts, ends) =>
    starts.flatMap((start, i) =>
      ends.map((end, n) => `${start} ${end}, ${3 * i + 7 * n} minutes on.`),
    ),
  )
  .map((sentence, i) => `${i + 1}. ${sentence} ${['Go.', 'Look up.', 'Bring a hat.'][i % 3]}`)
  .join(' ');
const ANSWER_SECONDS = 6;
const SUMMARY_SECONDS = 6;
const FOLDED_TURNS = 50;

const none = (): Operations => ({ reads: 0, writes: 0, deletes: 0, expiring: 0, messages: 0 });

/** What Firestore bills: a query at least as one read, and each document that it gives. */
function counting(inner: DocumentStore, counts: Operations): DocumentStore {
  return {
    ...inner,
    get: async (paths) => {
      counts.reads += paths.length;
      return inner.get(paths);
    },
    query: async (query) => {
      const found = await inner.query(query);
      counts.reads += Math.max(1, found.length);
      return found;
    },
    commit: async (writes) => {
      for (const { op, path } of writes)
        if (op === 'delete') counts.deletes += 1;
        else {
          counts.writes += 1;
          // A policy deletes them a day later, which is billed as well.
          if (op === 'create' && path.includes('/chunks/')) counts.expiring += 1;
        }
      return inner.commit(writes);
    },
  };
}

/** The limits that a deployment has, which a `demo-` project has not; more requests a minute, for the test. */
const limits = {
  ...Object.fromEntries(
    Object.entries(environmentSchema.parse({ GOOGLE_CLOUD_PROJECT: 'p' }))
      .filter(([name]) => /^(?:USER|ANONYMOUS|GLOBAL|STREAMS)_/.test(name))
      .flatMap(([name, value]) => (typeof value === 'number' ? [[name, `${value}`]] : [])),
  ),
  USER_REQUESTS_PER_MINUTE: '0',
};

/** What an instance has in memory, which can be emptied. */
function changingCache() {
  const warm = (): ConversationCache => createMemoryCache({ maxBytes: 10_000_000 });
  let now = warm();
  const cache: ConversationCache = {
    turn: (...key) => now.turn(...key),
    keepTurn: (...entry) => now.keepTurn(...entry),
    history: (...key) => now.history(...key),
    keepHistory: (...entry) => now.keepHistory(...entry),
    texts: (...key) => now.texts(...key),
    keepTexts: (...entry) => now.keepTexts(...entry),
    segment: (...key) => now.segment(...key),
    keepSegment: (...entry) => now.keepSegment(...entry),
    segmentBytes: now.segmentBytes,
    job: (...input) => now.job(...input),
    keepJob: (...input) => now.keepJob(...input),
  };
  const empty = () => {
    now = warm();
  };
  return { cache, empty };
}

/** Both functions before a fake Gemini, over a store that counts. */
async function startCounted() {
  const counts = none();
  const late: { bus?: EventPublisher } = {};
  let swaps = 0;
  const { cache, empty } = changingCache();
  const fakeGemini = await startFakeGemini();
  const environment = stackEnvironment({
    shell: {},
    model: { kind: 'stand-in' },
    fakeGeminiUrl: fakeGemini.url,
    settings: limits,
  });
  const host = await startEmbeddedHost({
    environment,
    overrides: {
      store: counting(createMemoryDocumentStore(), counts),
      cache,
      publisher: {
        publish: async (event) => {
          counts.messages += 1;
          await late.bus?.publish(event);
        },
      },
      logger: { log: (_, event) => void (swaps += Number(event === 'chat_compression')) },
    },
  });
  late.bus = host.bus;
  return {
    host,
    fakeGemini,
    emptyCache: empty,
    swaps: () => swaps,
    count: async (work: () => Promise<unknown>): Promise<Operations> => {
      await host.bus.idle();
      Object.assign(counts, none());
      await work();
      await host.bus.idle();
      return { ...counts };
    },
    stop: async () => {
      await host.stop();
      await fakeGemini.close();
    },
  };
}

/** Calls of one user about one conversation. */
function talkTo({ host, fakeGemini, swaps }: Awaited<ReturnType<typeof startCounted>>) {
  const token = unsignedToken({ uid: 'ada', projectId: localProjectId, now: new Date() });
  const conversation = `${host.chatUrl}/v1/conversations/${randomUUID()}`;
  const call = async (address: string, body: object) => {
    const response = await fetch(address, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${address}: ${response.status} ${text}`);
  };
  return {
    send: async () => {
      const text = `What is the harbour like? ${randomUUID()}`;
      fakeGemini.registerAnswers({
        userHash: createHash('sha256').update(text).digest('hex'),
        ordinal: 1,
        contents: [{ role: 'model', parts: [{ text: ANSWER }] }],
      });
      const message = { id: randomUUID(), parts: [{ type: 'text', text }] };
      await call(`${conversation}/messages`, { message });
    },
    compact: async () => {
      const before = swaps();
      await call(`${conversation}:compact`, {});
      await eventually('a swap', () => Promise.resolve(swaps() > before || undefined));
    },
  };
}

/**
 * What a turn, a compaction and a sweep read and write: both functions over an embedded store that counts,
 * with the limits of a deployment, before a fake Gemini that answers as slowly as a model.
 */
export async function countDocuments(): Promise<DocumentCounts> {
  const counted = await startCounted();
  const { host, fakeGemini, count, emptyCache } = counted;
  const { send, compact } = talkTo(counted);
  try {
    for (let i = 0; i < FOLDED_TURNS; i++) await send();
    fakeGemini.setTiming({ tokensPerSecond: 300 / ANSWER_SECONDS });
    const turn = await count(send);
    fakeGemini.setTiming({ tokensPerSecond: 0 });
    emptyCache();
    const elsewhere = await count(send);
    emptyCache();
    fakeGemini.setTiming({ timeToFirstTokenMs: SUMMARY_SECONDS * 1_000 });
    const compaction = await count(compact);
    const sweep = await count(() => host.bus.publish({ topic: 'compaction', data: sweepEvent }));
    return { turn, elsewhere, compaction, sweep };
  } finally {
    await counted.stop();
  }
}
