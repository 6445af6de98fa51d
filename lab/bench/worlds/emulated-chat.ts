import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createDependencies } from '#functions/dependencies.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { startEmulators } from '#infra/local/emulators.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { countStore, type CountedStore } from './counted-store.ts';
import { Firestore } from '@google-cloud/firestore';

/** Chat and worker in this process, on the Firestore emulator, whose documents are counted. */
export interface EmulatedChat {
  chat: ChatDependencies;
  compaction: WorkerDependencies;
  counted: CountedStore;
  firestoreHost: string;
  /** The client of Google, as anybody would use it. */
  raw: Firestore;
  close(): Promise<void>;
}

/** Starts all of it. Throws Error where no emulators are installed, with how to get them. */
export async function startEmulatedChat(): Promise<EmulatedChat> {
  const emulators = await startEmulators({ log: () => undefined });
  if ('missing' in emulators) throw new Error(emulators.missing);
  const { firestoreHost, pubsubHost } = emulators;
  const fakeGemini = await startFakeGemini();
  const before = process.env['FIRESTORE_EMULATOR_HOST'];
  // Google's client knows no other way to an emulator.
  process.env['FIRESTORE_EMULATOR_HOST'] = firestoreHost;
  process.env['METADATA_SERVER_DETECTION'] = 'none';
  const environment = stackEnvironment({
    shell: {},
    model: { kind: 'fake-gemini' },
    fakeGeminiUrl: fakeGemini.url,
    emulators: { firestoreHost, pubsubHost },
  });
  const config = localConfig(environment);
  const counted = countStore(
    createFirestoreDocumentStore({ projectId: localProjectId, deadlineMs: 30_000 }),
  );
  const dependencies = createDependencies(config, {
    store: counted.store,
    logger: { log: () => undefined },
    publisher: { publish: () => Promise.resolve() },
  });
  const [chat, compaction] = await Promise.all([dependencies.chat(), dependencies.compaction()]);
  const raw = new Firestore({ projectId: localProjectId, ignoreUndefinedProperties: true });
  return {
    chat,
    compaction,
    counted,
    firestoreHost,
    raw,
    close: async () => {
      await raw.terminate();
      await fakeGemini.close();
      await emulators.stop();
      if (before === undefined) delete process.env['FIRESTORE_EMULATOR_HOST'];
      else process.env['FIRESTORE_EMULATOR_HOST'] = before;
    },
  };
}
