import type { AtCrashPoint } from '#shared/ports/ports.ts';

/** The places between two effects of erasing a conversation, and what has happened there. */
export const eraseCrashPoints = {
  'erase-begun': 'The head says that the conversation is being erased; a pass begins.',
  'erase-pass-done': 'One pass over everything below the head has ended.',
  'erase-uploads-released':
    'Nothing stands below the head, and files that only it named are deleted.',
  'erase-tombstone-written': 'Only the tombstone is left; nobody has been told.',
} as const;

type EraseCrashPoint = keyof typeof eraseCrashPoints;

/** Passes a crash point: at once in production. */
export const passErasePoint = (
  { atCrashPoint }: { atCrashPoint: AtCrashPoint },
  point: EraseCrashPoint,
): Promise<void> => atCrashPoint(point);
