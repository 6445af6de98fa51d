import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { CONVERSATION } from '#lab/property/initial-state.ts';
import type { Lane, Process, Flow } from '#lab/property/interleaving.ts';
import type { Server, World } from '#lab/property/world.ts';
import type { CompactionHooks } from '#shared/compaction/hooks.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Clock, ModelChunk, ModelResponse, ModelStreamer } from '#shared/ports/ports.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { z } from 'zod';

/** The processes that can be killed; others take over from them. */
const VICTIMS: ReadonlySet<string> = new Set(['chat-0', 'worker-0']);

/** The death of one process at one point, once; without a point it only notes what passes by. */
function createDeath(point: string | undefined) {
  const passed = new Set<string>();
  const lanes = new Set<Lane>();
  let isOver = point === undefined;
  return {
    passed,
    /** Where work of processes waits for its turn. */
    knowLane: (lane: Lane) => void lanes.add(lane),
    isOver: () => isOver,
    atCrashPoint: async (process: Process, name: string): Promise<void> => {
      if (!VICTIMS.has(process.name)) return;
      passed.add(name);
      if (isOver || name !== point) return;
      isOver = true;
      process.crash();
      for (const { tasks } of lanes)
        tasks.splice(0, tasks.length, ...tasks.filter((task) => task.process !== process));
      await new Promise<never>(() => undefined);
    },
  };
}

/** The answer of a test takes longer. */
const DRAIN_MS = 300;

/** Dollars that nobody uses up: calls of the summariser are held and settled as in a deployment. */
const LIMITS = { USER_DAILY_USD: 1_000, GLOBAL_DAILY_USD: 1_000 };

const refused = () =>
  new AppError({
    status: 'RESOURCE_EXHAUSTED',
    reason: 'USER_RPM',
    message: 'no quota',
    // For good: a limit that passes is asked about again.
    retryable: false,
    publicMessage: 'Too many messages.',
  });

const PIECES = 5;
/** Shorter than a turn's lease, and long enough for a flush between two pieces. */
const PIECE_MS = 300;

const aborted = () =>
  new AppError({
    status: 'CANCELLED',
    reason: 'ABORTED',
    message: 'the call was aborted',
    publicMessage: 'The call was aborted.',
  });

function piecesOf(text: string): string[] {
  const length = Math.ceil(text.length / PIECES);
  return Array.from({ length: PIECES }, (_, i) => text.slice(i * length, (i + 1) * length));
}

async function* inPieces(
  chunks: AsyncIterable<ModelChunk>,
  clock: Clock,
  signal: AbortSignal,
): AsyncIterable<ModelChunk> {
  for await (const chunk of chunks) {
    const [part] = chunk.parts;
    const pieces = part && 'text' in part && part.text ? piecesOf(part.text) : [];
    if (pieces.length === 0) yield chunk;
    for (const text of pieces) {
      yield { parts: [{ text }] };
      await clock.wait(PIECE_MS, signal);
      if (signal.aborted) throw aborted();
    }
  }
}

/** The same model, which answers in pieces with time between them, so that they are flushed as they come. */
const slowModel = (model: ModelStreamer, clock: Clock): ModelStreamer => ({
  stream: (request, signal) => inPieces(model.stream(request, signal), clock, signal),
});

/** Signals by server, fired when it is told to end. */
function createShutdowns() {
  const shutdowns = new WeakMap<Server, AbortController>();
  return (server: Server): AbortController => {
    const found = shutdowns.get(server) ?? new AbortController();
    shutdowns.set(server, found);
    return found;
  };
}

const swappedSchema = z.object({
  type: z.literal('compaction.swapped'),
  conversationId: z.literal(CONVERSATION),
  generation: z.number(),
});

export type KilledWorld = ReturnType<typeof withDeath>;

/** What a scenario makes of what is asked in it. */
interface Answers {
  /** What the summariser says, by the number of its call; default: a good summary. */
  summary?: (call: number) => ModelResponse | undefined;
  /** Who has no quota when its turn comes. */
  refusedMessageId?: string;
}

/** The same world, in which a process dies at a point, once; without a point it only notes what passes by. */
export function withDeath(
  world: World,
  { scenario, point }: { scenario: Answers; point: string | undefined },
) {
  const death = createDeath(point);
  const shutdownOf = createShutdowns();
  let summaries = 0;
  /** The generations made by compaction of which the topic was told, and the app's step. */
  const told = { swapped: new Set<number>(), afterCompaction: new Set<number>() };
  const hooks: CompactionHooks = {
    preCompact: [],
    postCompact: [
      {
        name: 'afterCompaction',
        run: ({ event }) => {
          if (event.state === 'COMPACTED') told.afterCompaction.add(event.generation + 1);
          return Promise.resolve(undefined);
        },
      },
    ],
  };
  return {
    ...world,
    death,
    told,
    shutdownOf,
    chat: (server: Server, flow: Flow): ChatDependencies => {
      death.knowLane(flow.lane);
      const plain = world.chat(server, flow);
      return {
        ...plain,
        atCrashPoint: (name) => death.atCrashPoint(server.process, name),
        config: { ...plain.config, DRAIN_MS },
        model: slowModel(plain.model, plain.clock),
        shutdown: shutdownOf(server).signal,
        quota: {
          ...noQuota,
          // Before it is stored there is quota left.
          reserve: async (asked) => {
            const { messageId } = asked;
            if (messageId !== scenario.refusedMessageId) return noQuota.reserve(asked);
            const [stored] = await plain.store.get([messageGuardPath(CONVERSATION, messageId)]);
            if (stored) throw refused();
            return noQuota.reserve(asked);
          },
        },
      };
    },
    worker: (server: Server, flow: Flow): WorkerDependencies => {
      death.knowLane(flow.lane);
      const plain = world.worker(server, flow);
      const { model, publisher } = plain;
      const publish: typeof publisher.publish = async (event) => {
        await publisher.publish(event);
        const swapped = swappedSchema.safeParse(event.data).data;
        if (swapped) told.swapped.add(swapped.generation);
      };
      const generate: typeof model.generate = async (request, signal) => {
        const good = await model.generate(request, signal);
        return scenario.summary?.(++summaries) ?? good;
      };
      return {
        ...plain,
        atCrashPoint: (name) => death.atCrashPoint(server.process, name),
        config: { ...plain.config, ...LIMITS },
        model: { ...model, generate },
        publisher: { publish },
        hooks,
      };
    },
  };
}
