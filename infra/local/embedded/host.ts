import type { RecapApp } from '#functions/app.ts';
import { withAppModel } from '#functions/app-steps.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { createDependencies, type Overrides } from '#functions/dependencies.ts';
import { sweepEvent } from '#shared/compaction/event.ts';
import type { DocumentStore, Topic } from '#shared/ports/ports.ts';
import { localConfig } from '../local-config.ts';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';
import { listensToEvents, type PushSettings } from '../stack/pubsub-setup.ts';
import { localProjectId } from '../stack/stack-environment.ts';
import { startSweepSchedule } from '../sweep-schedule.ts';
import { createMemoryBus, type MemoryBus, type PushSubscriptionOptions } from './memory-bus.ts';
import { createMemoryDocumentStore } from './memory-document-store.ts';

/** What the process of an embedded host is told. */
export interface EmbeddedSettings {
  /** 0 or absent: any free port. */
  ports?: { chat?: number; compaction?: number };
  /** How pushes differ from those that are deployed. */
  push?: Partial<PushSettings> & Pick<PushSubscriptionOptions, 'duplicates'>;
  /** How often the sweep event is published; 0 or absent = never. */
  sweepSeconds?: number;
}

interface EmbeddedHostOptions extends EmbeddedSettings {
  /** What the functions read in place of `process.env`; see `stackEnvironment`. */
  environment: Readonly<Record<string, string | undefined>>;
  overrides?: Overrides;
  /** What the app defines. Default: nothing. */
  app?: RecapApp | undefined;
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
  const store =
    options.overrides?.store ??
    createMemoryDocumentStore({ second: Math.floor(Date.now() / 1_000) });
  const config = localConfig(withAppModel(options.environment, options.app ?? {}));
  const subscription = (topic: Topic) => ({
    ...options.push,
    topic,
    name: `projects/${localProjectId}/subscriptions/recap-${topic}`,
    endpoint: compactionUrl,
  });
  const bus = createMemoryBus({
    subscriptions: [
      subscription('compaction'),
      ...(listensToEvents(config) ? [subscription('events')] : []),
    ],
  });
  const functions = registerFunctions(
    createDependencies(
      config,
      {
        publisher: bus,
        ...options.overrides,
        store,
      },
      options.app,
    ),
  );
  const servers = await serveFunctions(
    [
      { target: 'chat', port: chatPort },
      { target: 'compaction', port: compactionPort },
    ],
    options.environment,
  );
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
      await Promise.all([bus.close(), ...servers.map((server) => server.close())]);
    },
  };
}
