import type { PolicySettings } from '../../shared/compaction/policy-settings.ts';
import type { Webhook } from '../../shared/compaction/webhook.ts';
import { readRemoteSettings } from '../../shared/compaction/remote-settings.ts';
import type { Clock, DocumentStore, Logger, StoredDocument } from '../../shared/ports.ts';

/** The document with which an operator changes the policy of all conversations without a deployment. */
export const REMOTE_POLICY_PATH = 'config/compaction';

/** A change takes effect within this time in every instance, and costs each of them one read in it. */
const FRESH_MS = 60_000;

export interface RemotePolicy {
  /** The settings as last read; undefined while there are none. */
  current(): PolicySettings | undefined;
  /** Webhooks of all conversations, as last read. */
  hooks(): readonly Webhook[];
  /**
   * Reads the document if what is known is a minute old. Who comes while it is read goes on with what is
   * known; only the first reading is waited for by all. A failure keeps what is known; throws nothing.
   */
  refresh(): Promise<void>;
}

/** How many names of unusable fields a log line has. */
const MOST_LOGGED = 10;

/** The remote level of the policy, kept for one instance. */
export function createRemotePolicy(dependencies: {
  store: Pick<DocumentStore, 'get'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}): RemotePolicy {
  const { store, clock, logger } = dependencies;
  let settings: PolicySettings | undefined;
  let hooks: readonly Webhook[] = [];
  let seen: string | undefined;
  let readAfterMs = -Infinity;
  let first: Promise<void> | undefined;

  const take = (document: StoredDocument | undefined) => {
    if (document?.updateTime === seen) return;
    seen = document?.updateTime;
    const read = document && readRemoteSettings(document.fields);
    settings = read?.settings;
    hooks = read?.hooks ?? [];
    if (read && read.unusable.length > 0)
      logger.log('WARNING', 'remote_policy_unusable', {
        fields: read.unusable.slice(0, MOST_LOGGED).join(', '),
        count: read.unusable.length,
      });
  };

  const read = async () => {
    try {
      const [document] = await store.get([REMOTE_POLICY_PATH]);
      take(document);
    } catch (error) {
      logger.log('WARNING', 'remote_policy_not_read', {
        error: error instanceof Error ? error.name : typeof error,
      });
    }
  };

  return {
    current: () => settings,
    hooks: () => hooks,
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
