import type { PolicySettings, Variants } from '#shared/compaction/policy-settings.ts';
import { readRemoteSettings } from '#shared/compaction/policy.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import { readAppNotes, type AppNote } from '#shared/memory/note.ts';
import type { ModelTable } from '#shared/models/model-entry.ts';
import { modelRegistry } from '#shared/models/model-registry.ts';
import type { Clock, DocumentStore, Logger, StoredDocument } from '#shared/ports/ports.ts';

/** A change takes effect within this time in every instance, and costs each of them one read in it. */
const FRESH_MS = 60_000;

/** A document that an operator changes while the process runs, kept for one instance. */
interface RemoteDocument {
  /**
   * Reads the document if what is known is a minute old. Who comes while it is read goes on with what is
   * known; only the first reading is waited for by all. A failure keeps what is known; throws nothing.
   */
  refresh(): Promise<void>;
}

interface Following {
  store: Pick<DocumentStore, 'get'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

/** Follows a document: `take` is called with it, or with undefined where there is none, whenever it changed. */
function followRemoteDocument(
  { store, clock, logger }: Following,
  document: {
    path: string;
    /** Of the log line that says that it could not be read. */
    failureEvent: string;
    take: (document: StoredDocument | undefined) => void;
  },
): RemoteDocument {
  const { path, failureEvent, take } = document;
  let takenUpdateTime: string | undefined;
  let readAfterMs = -Infinity;
  let first: Promise<void> | undefined;

  const read = async () => {
    try {
      const [stored] = await store.get([path]);
      if (stored?.updateTime === takenUpdateTime) return;
      takenUpdateTime = stored?.updateTime;
      take(stored);
    } catch (error) {
      logger.log('WARNING', failureEvent, {
        error: error instanceof Error ? error.name : typeof error,
      });
    }
  };

  return {
    async refresh() {
      const nowMs = clock.now().getTime();
      if (nowMs < readAfterMs) return first;
      readAfterMs = nowMs + FRESH_MS;
      const reading = read();
      first ??= reading;
      await reading;
    },
  };
}

/** The document with which an operator changes the policy of all conversations without a deployment. */
export const REMOTE_POLICY_PATH = 'config/compaction';

export interface RemotePolicy extends RemoteDocument {
  /** The settings as last read; undefined while there are none. */
  current(): PolicySettings | undefined;
  /** Settings to compare, by name, as last read. */
  variants(): Variants;
  /** Whether thresholds move towards where users compact by hand, as last read. */
  learnsThreshold(): boolean;
  /** Webhooks of all conversations, as last read. */
  hooks(): readonly Webhook[];
  /** The registry of models with what the document says of them, as last read. */
  models(): ModelTable;
}

/** How many names of unusable fields a log line has. */
const MOST_LOGGED = 10;

/** The remote level of the policy, kept for one instance. */
export function createRemotePolicy(following: Following): RemotePolicy {
  let read: ReturnType<typeof readRemoteSettings> | undefined;
  const document = followRemoteDocument(following, {
    path: REMOTE_POLICY_PATH,
    failureEvent: 'remote_policy_not_read',
    take: (found) => {
      read = found && readRemoteSettings(found.fields);
      if (read && read.unusable.length > 0)
        following.logger.log('WARNING', 'remote_policy_unusable', {
          fields: read.unusable.slice(0, MOST_LOGGED).join(', '),
          count: read.unusable.length,
        });
    },
  });
  return {
    current: () => read?.settings,
    variants: () => read?.variants ?? {},
    learnsThreshold: () => read?.learnsThreshold ?? false,
    hooks: () => read?.hooks ?? [],
    models: () => read?.models ?? modelRegistry,
    ...document,
  };
}

/** The document with which an operator tells all conversations something without a deployment. */
const APP_MEMORY_PATH = 'config/memory';

/** The app's level of the memory, kept for one instance. */
export interface AppMemory extends RemoteDocument {
  /** The notes as last read. */
  notes(): readonly AppNote[];
}

/** Follows the app's notes. Those that cannot be used are counted in the log, never shown there. */
export function createAppMemory(following: Following): AppMemory {
  let notes: readonly AppNote[] = [];
  const document = followRemoteDocument(following, {
    path: APP_MEMORY_PATH,
    failureEvent: 'app_memory_not_read',
    take: (found) => {
      const read = readAppNotes(found?.fields ?? {});
      notes = read.notes;
      if (read.unusable > 0)
        following.logger.log('WARNING', 'app_memory_unusable', { count: read.unusable });
    },
  });
  return { notes: () => notes, ...document };
}

/** Reads what operators change while the process runs, if it is a minute old. Throws nothing. */
export async function refreshRemote(
  documents: Partial<Record<'remotePolicy' | 'appMemory', Pick<RemoteDocument, 'refresh'>>>,
): Promise<void> {
  await Promise.all([documents.remotePolicy?.refresh(), documents.appMemory?.refresh()]);
}
