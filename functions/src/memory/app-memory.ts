import { readAppNotes, type AppNote } from '#shared/memory/note.ts';
import { followRemoteDocument, type RemoteDocument } from '../config/remote-document.ts';

/** The document with which an operator tells all conversations something without a deployment. */
const APP_MEMORY_PATH = 'config/memory';

/** The app's level of the memory, kept for one instance. */
export interface AppMemory extends RemoteDocument {
  /** The notes as last read. */
  notes(): readonly AppNote[];
}

/** Follows the app's notes. Those that cannot be used are counted in the log, never shown there. */
export function createAppMemory(
  dependencies: Parameters<typeof followRemoteDocument>[0],
): AppMemory {
  let notes: readonly AppNote[] = [];
  const document = followRemoteDocument(dependencies, {
    path: APP_MEMORY_PATH,
    failureEvent: 'app_memory_not_read',
    take: (found) => {
      const read = readAppNotes(found?.fields ?? {});
      notes = read.notes;
      if (read.unusable > 0)
        dependencies.logger.log('WARNING', 'app_memory_unusable', { count: read.unusable });
    },
  });
  return { notes: () => notes, ...document };
}
