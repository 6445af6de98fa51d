import type { RemotePolicy } from '#functions/config/remote-documents.ts';
import { readRemoteSettings } from '#shared/compaction/policy.ts';

/** The document `config/compaction` as it stands all the while. */
export function fixedPolicy(fields: Readonly<Record<string, unknown>>): RemotePolicy {
  const { settings, variants, learnsThreshold, hooks, models } = readRemoteSettings(fields);
  return {
    current: () => settings,
    variants: () => variants,
    learnsThreshold: () => learnsThreshold,
    hooks: () => hooks,
    models: () => models,
    refresh: () => Promise.resolve(),
  };
}
