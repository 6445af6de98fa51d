import type { PolicySettings } from '#shared/compaction/policy-settings.ts';
import { readRemoteSettings } from '#shared/compaction/policy.ts';
import type { Variants } from '#shared/compaction/variants.ts';
import type { Webhook } from '#shared/hooks/webhook.ts';
import type { ModelTable } from '#shared/models/model-entry.ts';
import { registry } from '#shared/models/registry.ts';
import { followRemoteDocument, type RemoteDocument } from './remote-document.ts';

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
export function createRemotePolicy(
  dependencies: Parameters<typeof followRemoteDocument>[0],
): RemotePolicy {
  let read: ReturnType<typeof readRemoteSettings> | undefined;
  const document = followRemoteDocument(dependencies, {
    path: REMOTE_POLICY_PATH,
    failureEvent: 'remote_policy_not_read',
    take: (found) => {
      read = found && readRemoteSettings(found.fields);
      if (read && read.unusable.length > 0)
        dependencies.logger.log('WARNING', 'remote_policy_unusable', {
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
    models: () => read?.models ?? registry,
    ...document,
  };
}

/** Reads what operators change while the process runs, if it is a minute old. Throws nothing. */
export async function refreshRemote(
  documents: Partial<Record<'remotePolicy' | 'appMemory', Pick<RemoteDocument, 'refresh'>>>,
): Promise<void> {
  await Promise.all([documents.remotePolicy?.refresh(), documents.appMemory?.refresh()]);
}
