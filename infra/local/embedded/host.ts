import type { Server } from 'node:http';
import { createDependencies, type Overrides } from '../../../functions/src/dependencies.ts';
import { parseConfig, type Config } from '../../../functions/src/config.ts';
import { registerFunctions } from '../../../functions/src/register.ts';
import { sweepEvent } from '../../../shared/compaction/event.ts';
import type { DocumentStore, Topic } from '../../../shared/ports.ts';
import { chooseFreePort } from '../free-port.ts';
import { serveFunctions } from '../function-host.ts';
import { deployedPushSettings, listensToEvents, type PushSettings } from '../push-settings.ts';
import { localProjectId } from '../stack-environment.ts';
import { startSweepSchedule } from '../sweep-schedule.ts';
import { createMemoryBus, type MemoryBus } from './memory-bus.ts';
import { createMemoryDocumentStore } from './memory-document-store.ts';

export interface EmbeddedHostOptions {
  /** What the functions read in place of `process.env`; see `stackEnvironment`. */
  environment: Readonly<Record<string, string | undefined>>;
  /** 0 or absent: any free port. */
  ports?: { chat: number; compaction: number };
  push?: Partial<PushSettings> & {
    /** Pushes at the same time; default 2, as the emulator does on two cores. */
    maxInFlight?: number;
    /** Each event is delivered this many times more; default 0. */
    duplicates?: number;
  };
  /** How often the sweep event is published; 0 or absent = never. */
  sweepSeconds?: number;
  overrides?: Overrides;
}

export interface EmbeddedHost {
  chatUrl: string;
  compactionUrl: string;
  store: DocumentStore;
  bus: MemoryBus;
  /** Lets running answers come to their end, see DRAIN_MS. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

function createBus(
  config: Config,
  compactionUrl: string,
  push: PushSettings & { maxInFlight?: number; duplicates?: number },
): MemoryBus {
  const { maxInFlight, duplicates } = push;
  const subscription = (topic: Topic) => ({
    topic,
    name: `projects/${localProjectId}/subscriptions/recap-${topic}`,
    endpoint: compactionUrl,
    ackDeadlineMs: push.ackDeadlineSeconds * 1_000,
    minBackoffMs: push.minBackoffSeconds * 1_000,
    maxBackoffMs: push.maxBackoffSeconds * 1_000,
    maxDeliveryAttempts: push.maxDeliveryAttempts,
    ...(maxInFlight !== undefined && { maxInFlight }),
    ...(duplicates !== undefined && { duplicates }),
  });
  return createMemoryBus({
    subscriptions: [
      subscription('compaction'),
      ...(listensToEvents(config) ? [subscription('events')] : []),
    ],
  });
}

/**
 * Both functions in this process, over one store and one bus in memory; the bus pushes over HTTP as
 * Pub/Sub does. What is stored ends with the process. Throws AppError INVALID_CONFIGURATION.
 */
export async function startEmbeddedHost(options: EmbeddedHostOptions): Promise<EmbeddedHost> {
  const reserved = new Set<number>();
  const chatPort = await chooseFreePort(options.ports?.chat ?? 0, reserved);
  const compactionPort = await chooseFreePort(options.ports?.compaction ?? 0, reserved);
  const chatUrl = `http://127.0.0.1:${chatPort}`;
  const compactionUrl = `http://127.0.0.1:${compactionPort}`;
  const store = options.overrides?.store ?? createMemoryDocumentStore();
  const config = parseConfig(options.environment);
  const bus = createBus(config, compactionUrl, { ...deployedPushSettings, ...options.push });
  const functions = registerFunctions(
    createDependencies(config, {
      publisher: bus,
      ...options.overrides,
      store,
    }),
  );
  const servers = await serveFunctions([
    { target: 'chat', port: chatPort },
    { target: 'compaction', port: compactionPort },
  ]);
  const schedule = startSweepSchedule({
    everySeconds: options.sweepSeconds ?? 0,
    publish: () => bus.publish({ topic: 'compaction', data: sweepEvent }),
  });
  return {
    chatUrl,
    compactionUrl,
    store,
    bus,
    drain: () => functions.drain(),
    stop: async () => {
      await schedule.stop();
      await Promise.all([bus.close(), ...servers.map(close)]);
    },
  };
}
