import { noHooks, type CompactionHooks } from '#shared/compaction/summariser/hooks.ts';
import type { Run } from './run.ts';

/** The hooks of a run: the deployment's, then the remote document's, then the conversation's. */
export function selectHooks({ dependencies, reading }: Pick<Run, 'dependencies' | 'reading'>) {
  const { hooks = noHooks, webhooks, config } = dependencies;
  const remote = config.remotePolicy?.hooks() ?? [];
  const own = reading.head.value.settings.hooks ?? [];
  const called = webhooks?.([...remote, ...own]) ?? noHooks;
  const all: CompactionHooks = {
    preCompact: [...hooks.preCompact, ...called.preCompact],
    postCompact: [...hooks.postCompact, ...called.postCompact],
  };
  return all;
}
