import type { Note } from '#shared/memory/note.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { MemoryNoteView } from '../responses/memories.ts';

/** A note as its user sees it. */
export const noteView = ({
  id,
  text,
  topics,
  imports,
  source,
  savedAt,
  from,
}: Note): MemoryNoteView => ({
  id,
  text,
  ...(topics && { topics }),
  ...(imports && { imports }),
  source,
  savedAt: savedAt.toISOString(),
  ...(from && {
    from: {
      conversationId: from.conversationId,
      turnId: turnId(from.seq),
      saidIn: from.saidIn.map(turnId),
    },
  }),
});
