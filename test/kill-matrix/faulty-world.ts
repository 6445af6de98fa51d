import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { compactionCrashPoints } from '#functions/lib/crash-points.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/run.ts';
import { CONVERSATION } from '#lab/property/initial-state.ts';
import type { Lane, Process, Flow } from '#lab/property/interleaving.ts';
import type { Server, World } from '#lab/property/world.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { StoreUnavailableError, AppError } from '#shared/errors.ts';
import type {
  Clock,
  DocumentStore,
  ModelChunk,
  ModelResponse,
  ModelStreamer,
} from '#shared/ports/ports.ts';
import { noQuota } from '#test/fakes/no-quota.ts';

/**
 * What befalls a server process when it comes to a crash point: an error; death; the commit that follows
 * reaches the database later than anybody waits, and until then the process stands still; it is refused; it is
 * applied, and its reply is lost.
 */
export type Column = 'throw' | 'killed' | 'late commit' | 'commit refused' | 'reply lost';

export interface Fault {
  column: Column;
  point: string;
  /** For a refusal or a lost reply: which of the process's commits it befalls, from 1. */
  commit?: number | undefined;
}

/** Where a victim passed a point for the first time. */
export interface Passing {
  server: string;
  /** Commits that this process had made by then. */
  commitsBefore: number;
}

/** The processes that a fault can befall; others take over from them. */
const VICTIMS: ReadonlySet<string> = new Set(['chat-0', 'worker-0']);

/** The process that passes a point. */
const victimOf = (point: string) => (point in compactionCrashPoints ? 'worker-0' : 'chat-0');

/** Whether an error was thrown at a crash point by a test of this directory. */
export const isInjected = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message.startsWith('died at ') || (error.cause !== undefined && isInjected(error.cause)));

/** One fault of one process, once; without a fault it only counts what passes by. */
class Outage {
  readonly passings = new Map<string, Passing>();
  readonly #fault: Fault | undefined;
  readonly #lanes = new Set<Lane>();
  readonly #commits = new Map<string, number>();
  readonly #thawed = Promise.withResolvers<void>();
  #frozen: Process | undefined;
  /** Its next commit is late. */
  #late: Process | undefined;
  #isOver: boolean;

  constructor(fault: Fault | undefined) {
    this.#fault = fault;
    this.#isOver = fault === undefined;
  }

  /** Whether the fault has happened. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Where work of processes waits for its turn. */
  knowLane(lane: Lane): void {
    this.#lanes.add(lane);
  }

  commitsOf(server: string): number {
    return this.#commits.get(server) ?? 0;
  }

  async atCrashPoint(process: Process, point: string): Promise<void> {
    if (!VICTIMS.has(process.name)) return;
    const commitsBefore = this.commitsOf(process.name);
    if (!this.passings.has(point))
      this.passings.set(point, { server: process.name, commitsBefore });
    if (this.#isOver || this.#fault?.point !== point) return;
    switch (this.#fault.column) {
      case 'commit refused':
      case 'reply lost':
        return;
      case 'late commit':
        this.#late ??= process;
        return;
      case 'throw':
        this.#isOver = true;
        throw new Error(`died at ${point}`);
      case 'killed':
        this.#isOver = true;
        return this.#kill(process);
    }
  }

  /** A process that stands still does nothing and hears nothing. */
  async gated<T>(process: Process, work: () => Promise<T>): Promise<T> {
    if (process === this.#frozen) await this.#thawed.promise;
    try {
      return await work();
    } finally {
      if (process === this.#frozen) await this.#thawed.promise;
    }
  }

  /** A commit: it may be late or refused, and its reply may be lost. Throws StoreUnavailableError. */
  async commit<T>(process: Process, work: () => Promise<T>): Promise<T> {
    if (this.#late === process && !this.#isOver) {
      this.#isOver = true;
      this.#frozen = process;
    }
    return this.gated(process, async () => {
      const count = this.commitsOf(process.name) + 1;
      this.#failIfMeant('commit refused', process, count);
      const result = await work();
      this.#commits.set(process.name, count);
      this.#failIfMeant('reply lost', process, count);
      return result;
    });
  }

  /** What stood still goes on. */
  thaw(): void {
    this.#frozen = undefined;
    this.#thawed.resolve();
  }

  #failIfMeant(column: Column, { name }: Process, count: number): void {
    if (this.#isOver || this.#fault?.column !== column) return;
    if (this.#fault.commit !== count || name !== victimOf(this.#fault.point)) return;
    this.#isOver = true;
    throw new StoreUnavailableError({ operation: `commit ${count}: ${column}` });
  }

  #kill(process: Process): Promise<never> {
    process.crash();
    for (const { tasks } of this.#lanes)
      tasks.splice(0, tasks.length, ...tasks.filter((task) => task.process !== process));
    return new Promise(() => undefined);
  }
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

const storeOf = (outage: Outage, { process }: Server, store: DocumentStore): DocumentStore => ({
  ...store,
  get: (paths) => outage.gated(process, () => store.get(paths)),
  query: (query) => outage.gated(process, () => store.query(query)),
  deleteBelow: (path, signal) => outage.gated(process, () => store.deleteBelow(path, signal)),
  commit: (writes) => outage.commit(process, () => store.commit(writes)),
  watch: async function* (collection, signal) {
    for await (const documents of store.watch(collection, signal))
      yield await outage.gated(process, () => Promise.resolve(documents));
  },
});

type Shared = Pick<ChatDependencies, 'store' | 'clock' | 'publisher' | 'atCrashPoint'>;

/** What both functions work with, as a process has it that an outage can befall. */
function sharedOf(outage: Outage, server: Server, plain: Shared): Shared {
  const { clock, publisher, store } = plain;
  const { process } = server;
  return {
    store: storeOf(outage, server, store),
    clock: {
      now: () => clock.now(),
      wait: (ms, signal) => outage.gated(process, () => clock.wait(ms, signal)),
    },
    publisher: {
      publish: (event) => outage.gated(process, () => publisher.publish(event)),
    },
    atCrashPoint: (point) => outage.atCrashPoint(process, point),
  };
}

/** Signals by server, fired when it is told to end. */
function createShutdowns() {
  const shutdowns = new WeakMap<Server, AbortController>();
  return (server: Server): AbortController => {
    const found = shutdowns.get(server) ?? new AbortController();
    shutdowns.set(server, found);
    return found;
  };
}

export type FaultyWorld = ReturnType<typeof withFault>;

/** What a scenario makes of what is asked in it. */
interface Answers {
  /** What the summariser says, by the number of its call; default: a good summary. */
  summary?: (call: number) => ModelResponse | undefined;
  /** Who has no quota when its turn comes. */
  refusedMessageId?: string;
}

/** The same world, in which one fault befalls one of its processes, once; without a fault it only counts. */
export function withFault(
  world: World,
  { scenario, fault }: { scenario: Answers; fault: Fault | undefined },
) {
  const outage = new Outage(fault);
  const shutdownOf = createShutdowns();
  let summaries = 0;
  return {
    ...world,
    outage,
    shutdownOf,
    chat: (server: Server, flow: Flow): ChatDependencies => {
      outage.knowLane(flow.lane);
      const plain = world.chat(server, flow);
      const shared = sharedOf(outage, server, plain);
      return {
        ...plain,
        ...shared,
        config: { ...plain.config, DRAIN_MS },
        model: slowModel(plain.model, shared.clock),
        shutdown: shutdownOf(server).signal,
        quota: {
          ...noQuota,
          // Before it is stored there is quota left.
          reserve: async (asked) => {
            const { messageId } = asked;
            if (messageId !== scenario.refusedMessageId) return noQuota.reserve(asked);
            const [stored] = await shared.store.get([messageGuardPath(CONVERSATION, messageId)]);
            if (stored) throw refused();
            return noQuota.reserve(asked);
          },
        },
      };
    },
    worker: (server: Server, flow: Flow): CompactionDependencies => {
      outage.knowLane(flow.lane);
      const plain = world.worker(server, flow);
      const { model } = plain;
      const generate: typeof model.generate = (request, signal) =>
        outage.gated(server.process, async () => {
          const good = await model.generate(request, signal);
          return scenario.summary?.(++summaries) ?? good;
        });
      return {
        ...plain,
        ...sharedOf(outage, server, plain),
        config: { ...plain.config, ...LIMITS },
        model: { ...model, generate },
      };
    },
  };
}
