import type { RecapApp } from '#functions/app.ts';
import { findApp } from '#functions/define-recap.ts';
import { pathToFileURL } from 'node:url';

/** Names the module of an app to the processes of a local stack. */
export const ENTRY_VARIABLE = 'RECAP_ENTRY';

/**
 * The app whose functions the module at the path in `RECAP_ENTRY` exports; without a path one that defines nothing. Throws
 * what the module throws, and Error where it exports no such function.
 */
export async function loadApp(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<RecapApp> {
  const entry = environment[ENTRY_VARIABLE];
  const exported: { chat?: unknown; compaction?: unknown } =
    entry === undefined
      ? await import('#functions/index.ts')
      : await import(pathToFileURL(entry).href);
  const app = findApp(exported.chat);
  if (!app || findApp(exported.compaction) !== app)
    throw new Error(
      `${entry ?? 'index.ts'} exports no \`chat\` and \`compaction\` of one app. It needs: export const { chat, compaction } = defineRecap({ … });`,
    );
  return app;
}
