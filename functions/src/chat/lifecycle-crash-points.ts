import type { AtCrashPoint } from '#shared/ports/ports.ts';

/**
 * Every place between two effects of restoring, deleting, erasing and forking, and what has happened
 * there. A process that dies at any of them leaves a conversation that the same request again, or the
 * sweep, puts right.
 */
export const lifecycleCrashPoints = {
  'generation-restored': 'The restored generation is in force; the workers have not been told.',
  'message-wiped': 'A turn is emptied; earlier histories, chunks and blobs may still tell of it.',
  'erasure-finished': 'Nothing tells of the turn any more; the workers have not been told.',
  'conversation-deleted': 'The conversation is in the bin; the caller does not know.',
  'conversation-undeleted': 'The conversation is live again; the caller does not know.',
  'conversation-marked': 'One conversation is marked as erasing; the workers have not been told.',
  'erase-published': 'The workers have been told to erase one conversation.',
  'user-documents-erased':
    'Nothing stands below the user any more, conversations and bare figures of today apart.',
  'fork-begun': 'The head of the fork is there, or taken from a maker that died.',
  'fork-cleared': 'Nothing of an earlier try stands below the head of the fork.',
  'fork-batch-copied': 'Some documents are copied.',
  'fork-copied': 'All documents are copied; the fork is not live.',
  'fork-live': 'The fork is live; the caller does not know.',
} as const;

type LifecycleCrashPoint = keyof typeof lifecycleCrashPoints;

/** Passes a crash point: at once in production. */
export const passLifecyclePoint = (
  { atCrashPoint }: { atCrashPoint: AtCrashPoint },
  point: LifecycleCrashPoint,
): Promise<void> => atCrashPoint(point);
